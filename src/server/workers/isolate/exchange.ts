import { LazyRequest } from "../../web/lazy-request.js";
import { FailureReason, FrameKind, LogCode, responseHeadBytes, chunkBytes, creditWindowBytes, pieceCostBytes } from "../protocol/frames.js";
import { describeResponse } from "./foreign-response.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import type { LogChannel } from "./channel.js";
import { ServerAnswer } from "./node-server/server-answer.js";
import { PlainResponse, headLines, type ResponseParts } from "./plain-response.js";
import { RequestBody } from "./request-body.js";
import { abandonWebSocket, webSocketOf } from "./web-socket-response.js";
import type { WebSockets } from "./web-sockets.js";

/** One request inside the isolate, from its frame to the last chunk of its response. */
export class Exchange {
  readonly request: LazyRequest;
  readonly #id: number;
  readonly #writer: FrameWriter;
  readonly #log: LogChannel;
  readonly #webSockets: WebSockets;
  readonly #onDone: (id: number) => void;
  readonly #body: RequestBody | undefined;
  #credit = creditWindowBytes;
  #onCredit: (() => void) | undefined;
  #isCancelled = false;
  #isDone = false;
  #reader: ReadableStreamDefaultReader<unknown> | undefined;

  constructor(options: {
    id: number;
    head: string;
    body: Uint8Array | "stream" | undefined;
    writer: FrameWriter;
    log: LogChannel;
    webSockets: WebSockets;
    onDone: (id: number) => void;
  }) {
    const { id, body, writer } = options;
    this.#id = id;
    this.#writer = writer;
    this.#log = options.log;
    this.#webSockets = options.webSockets;
    this.#onDone = options.onDone;
    if (body === "stream") {
      this.#body = new RequestBody({
        giveCredit: (bytes) => writer.number(FrameKind.Credit, id, bytes),
        stop: () => writer.empty(FrameKind.StopBody, id),
      });
    } else if (body) this.#body = new RequestBody(body);
    this.request = new LazyRequest(options.head, this.#body);
  }

  pushBody(chunk: Uint8Array): void {
    this.#body?.push(chunk);
  }

  endBody(): void {
    this.#body?.end();
  }

  abortBody(): void {
    this.#body?.fail("The client stopped sending the request body.");
  }

  addCredit(bytes: number): void {
    this.#credit += bytes;
    const wake = this.#onCredit;
    this.#onCredit = undefined;
    wake?.();
  }

  /**
   * Handles a Cancel frame, for example after the client disconnected. Aborts `request.signal`, the request body and the response stream.
   */
  cancel(): void {
    this.#isCancelled = true;
    this.abortBody();
    LazyRequest.abort(this.request);
    if (!this.#reader) return;
    this.#reader.cancel(new DOMException("The client disconnected.", "AbortError")).catch(() => undefined);
    this.#finish(FrameKind.Abort);
  }

  /** Sends the response. `value` is any value that the worker's handler returned. */
  answer(value: unknown): void {
    if (this.#isDone) return;
    if (value instanceof ServerAnswer && !this.#isCancelled) return this.#sendServerAnswer(value);
    const parts = this.#takeApart(value);
    if (this.#isCancelled) {
      if (parts && "headers" in parts) abandonResponse(parts);
      this.#finish(FrameKind.Abort);
      return;
    }
    if (!parts) return this.#refuse(FailureReason.NotAResponse, `The worker returned ${describeResponse(value)} instead of a Response.`);
    if ("headers" in parts) this.#sendNative(parts);
    else this.#sendPlain(parts);
  }

  /**
   * Returns the parts of a response. Returns undefined for any other value. If reading the response of another implementation throws, logs
   * the error.
   */
  #takeApart(value: unknown): ReturnType<typeof PlainResponse.takeApart> {
    try {
      return PlainResponse.takeApart(value);
    } catch (error) {
      this.#log.report(error);
      return undefined;
    }
  }

  /** Handles an error that the handler of the worker threw, or the reason of its rejected promise. */
  fail(error: unknown): void {
    if (this.#isDone) return;
    this.#log.report(error);
    if (this.#isCancelled) this.#finish(FrameKind.Abort);
    else this.#refuse(FailureReason.Threw, undefined);
  }

  #sendPlain({ status, head, body }: ResponseParts): void {
    if (head.length > responseHeadBytes) return this.#refuseHead();
    if (this.#writer.answer(this.#id, status, head, body ?? "")) return this.#done();
    const bytes = typeof body === "string" ? Buffer.from(body) : (body as Uint8Array);
    this.#writer.responseHead(this.#id, status, head, bytes.byteLength);
    void this.#sendBytes(bytes).then(() => this.#finish(FrameKind.End));
  }

  #sendServerAnswer({ status, head, body, length }: ServerAnswer): void {
    if (body instanceof Uint8Array) return this.#sendPlain({ status, head, body });
    if (head.length > responseHeadBytes) return this.#refuseHead();
    this.#writer.responseHead(this.#id, status, head, length);
    this.#reader = body.getReader();
    void this.#sendStream(this.#reader);
  }

  #sendNative(response: Response): void {
    if (response.bodyUsed || response.body?.locked) {
      return this.#refuse(FailureReason.BadResponse, "The worker returned a Response whose body was already read.");
    }
    const head = headLines(wireHeaders(response));
    if (head.length > responseHeadBytes) return this.#refuseHead();
    if (response.status < 200) return this.#switchProtocols(response, head);
    if (!response.body) {
      this.#writer.answer(this.#id, response.status, head, "");
      this.#done();
      return;
    }
    this.#writer.responseHead(this.#id, response.status, head, -1);
    this.#reader = response.body.getReader();
    void this.#sendStream(this.#reader);
  }

  #switchProtocols(response: Response, head: string): void {
    const webSocket = webSocketOf(response);
    if (!webSocket) return this.#refuse(FailureReason.BadResponse, `The worker returned status ${response.status}.`);
    if (this.#webSockets.open(this.#id, webSocket, head)) this.#done();
    else this.#refuse(FailureReason.BadResponse, "The worker returned a webSocket that is already accepted or in use by another Response.");
  }

  async #sendStream(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
    try {
      while (!this.#isDone) {
        const { done, value } = await reader.read();
        if (this.#isDone) return;
        if (done) return this.#finish(FrameKind.End);
        if (!(value instanceof Uint8Array)) throw new TypeError("A body stream must yield Uint8Array chunks.");
        if (value.byteLength > 0) await this.#sendBytes(value);
      }
    } catch (error) {
      if (this.#isDone) return;
      this.#log.report(error);
      reader.cancel(error).catch(() => undefined);
      this.#finish(FrameKind.Abort);
    }
  }

  /**
   * Sends body bytes within the credit of the daemon. Copies the bytes, because the worker can use its buffer again before the socket has
   * sent them.
   */
  async #sendBytes(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.byteLength > 0 && !this.#isDone) {
      if (this.#credit <= pieceCostBytes) {
        rest = Uint8Array.prototype.slice.call(rest);
        await new Promise<void>((resolve) => (this.#onCredit = resolve));
      }
      if (this.#isDone) return;
      const size = Math.min(rest.byteLength, chunkBytes, this.#credit - pieceCostBytes);
      const isNewFrame = this.#writer.copiedChunk(this.#id, rest.subarray(0, size));
      this.#credit -= isNewFrame ? size + pieceCostBytes : size;
      rest = rest.subarray(size);
    }
  }

  #refuseHead(): void {
    this.#refuse(FailureReason.BadResponse, `The worker returned more than ${responseHeadBytes} bytes of headers.`);
  }

  #refuse(reason: number, message: string | undefined): void {
    if (message) this.#log.write(LogCode.Error, message);
    this.#writer.byte(FrameKind.Failed, this.#id, reason);
    this.#done();
  }

  #finish(kind: typeof FrameKind.End | typeof FrameKind.Abort): void {
    if (this.#isDone) return;
    this.#writer.empty(kind, this.#id);
    this.#done();
  }

  #done(): void {
    this.#isDone = true;
    this.addCredit(0);
    // Aborts the request body, so that a pending read ends.
    this.abortBody();
    this.#onDone(this.#id);
  }
}

function abandonResponse(response: Response): void {
  abandonWebSocket(response);
  response.body?.cancel().catch(() => undefined);
}

/**
 * Returns the headers to send. Omits `Content-Encoding` and `Content-Length` of a response that comes from `fetch()`, because `fetch()` has
 * decoded the body.
 */
function wireHeaders(response: Response): Headers {
  if (response.url === "" || !response.headers.has("content-encoding")) return response.headers;
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return headers;
}
