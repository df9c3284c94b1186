import { performance } from "node:perf_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../../shared/api-error.js";
import { sendError } from "../../web/error-response.js";
import { discardBody, hasBody } from "../../web/request-body.js";
import type { ResponseHead } from "./response-head.js";
import { ResponseWindow, RequestStream } from "./body-streams.js";
import type { CallChannel } from "./call-channel.js";
import { BodyKind, FrameKind, inlineRequestBytes, pieceCostBytes } from "../protocol/frames.js";
import { FastResponseWriter } from "./fast-response-writer.js";
import type { PacedWorker } from "./bandwidth-scheduler.js";
import type { Visit } from "./visit.js";
import type { WorkerMeter } from "./worker-meter.js";

/** What all calls of one version share. */
export interface CallHost extends PacedWorker {
  readonly timeoutMs: number;
  /** Final deadline of a call of which no byte moves, regardless of whom it waits for. */
  readonly stallTimeoutMs: number;
  readonly maxBodySizeBytes: number;
  onFailure(call: WorkerCall, error: ApiError): void;
}

/** Where an answer keeps the call that it belongs to. */
const callOfResponse = Symbol("call");

/** A body up to this size leaves as one piece with its header. */
const shortBodyBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);

/** One request of a client that an isolate answers: what goes to the isolate, and what comes back to the wire. */
export class WorkerCall {
  readonly visit: Visit;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly #host: CallHost;
  /** On the clock of `performance.now()`: when the sweep has to look at this call. */
  deadlineMs: number;
  /** On the same clock: when a byte of the request or its answer last moved. */
  #progressMs: number;
  readonly #head: string;
  #bodyKind: number;
  #inlineBody: Buffer | undefined;
  #channel: CallChannel | undefined;
  #id = 0;
  #isDone = false;
  /** True when the response began and fails by no fault of the client. */
  #isBrokenOff = false;
  #isReceiving = false;
  readonly #startedMs = performance.now();
  /** What the client was told; 0 = nothing yet. */
  #status = 0;
  #stream: RequestStream | undefined;
  #receivedBytes = 0;
  /** Of an answer that is streamed. */
  #window: ResponseWindow | undefined;
  #remainingLength = -1;

  constructor(visit: Visit, head: string, host: CallHost) {
    this.visit = visit;
    this.request = visit.request;
    this.response = visit.response;
    this.requestId = visit.requestId;
    this.#host = host;
    this.#progressMs = this.#startedMs;
    this.deadlineMs = this.#startedMs + host.timeoutMs;
    host.meter.beganCount += 1;
    this.#head = head;
    this.#bodyKind = bodyKindOf(this.request);
    (this.response as CallingResponse)[callOfResponse] = this;
    this.response.on("close", onResponseClose);
  }

  get timeoutMs(): number {
    return this.#host.timeoutMs;
  }

  get stallTimeoutMs(): number {
    return this.#host.stallTimeoutMs;
  }

  get meter(): WorkerMeter {
    return this.#host.meter;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** True while the call waits for a small body, before it is given to an isolate. */
  get isReceiving(): boolean {
    return this.#isReceiving && !this.#isDone;
  }

  /**
   * Waits for a small body, rejects one that is too large; calls back when the call can be given to an isolate. Ends the call when the
   * client has left or its body fails before that.
   */
  prepare(onReady: (call: WorkerCall) => void): void {
    // The response emitted "close" before this call listened to it: the client left while the worker was opened.
    if (this.response.closed) return this.#release(false);
    if (this.#bodyKind === BodyKind.None) return onReady(this);
    this.request.once("close", this.#onRequestClose);
    const length = Number(this.request.headers["content-length"] ?? Number.NaN);
    if (length > this.#host.maxBodySizeBytes) return this.#refuseBody();
    if (!(length <= inlineRequestBytes)) return onReady(this);
    this.#isReceiving = true;
    const chunks: Buffer[] = [];
    this.request.on("data", (chunk: Buffer) => chunks.push(chunk));
    this.request.on("end", () => {
      if (this.#isDone) return;
      this.#isReceiving = false;
      this.#bodyKind = BodyKind.Inline;
      this.#inlineBody = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      this.meter.requestBodyBytes += this.#inlineBody?.length ?? 0;
      this.touch();
      onReady(this);
    });
  }

  /** Hands the request to an isolate. */
  start(channel: CallChannel, id: number): void {
    this.#channel = channel;
    this.#id = id;
    channel.writer.request(id, this.#head, this.#bodyKind, this.#inlineBody);
    this.#inlineBody = undefined;
    if (this.#bodyKind === BodyKind.Stream) {
      const onBytes = (count: number): boolean => this.#takeBytes(count);
      this.#stream = new RequestStream({ request: this.request, writer: channel.writer, id, worker: this.#host, onBytes });
    }
  }

  /** True when the isolate owes the next move; false while a stream is held, or the client is slow, which the HTTP server puts an end to. */
  get isIsolatesTurn(): boolean {
    return !this.response.writableNeedDrain && this.#window?.isHeld !== true && this.#stream?.awaitsOthers !== true;
  }

  /** Restarts the timeout: the request or its answer went on. */
  touch(): void {
    this.#progressMs = performance.now();
    this.deadlineMs = this.#progressMs + this.timeoutMs;
  }

  /** Restarts the timeout for a call that waits for its client or for the machine, not for the isolate. */
  postpone(nowMs: number): void {
    this.deadlineMs = nowMs + this.timeoutMs;
  }

  /** Whether no byte has moved for so long that the call ends regardless of whom it waits for. */
  isStalled(nowMs: number): boolean {
    return nowMs - this.#progressMs > this.#host.stallTimeoutMs;
  }

  /** Throws when the isolate has begun another answer. */
  answer(status: number, head: ResponseHead, body: Buffer): void {
    const { response } = this;
    const length = body.length === 0 && this.request.method === "HEAD" ? (head.claimedLength ?? 0) : body.length;
    const wireBody = this.#mayHaveBody(status) ? body : noBytes;
    this.meter.responseBodyBytes += wireBody.length;
    const sent = wireBody.length <= shortBodyBytes ? wireBody.toString("latin1") : this.#lasting(wireBody);
    if (!head.hasDate && FastResponseWriter.suits(response)) {
      this.#status = status;
      this.#release(true);
      this.#channel?.fastResponseWriter.send(response, status, head.lines + this.#ownLines(status, length), sent);
      return;
    }
    this.#writeHead(status, head, length);
    this.#release(true);
    response.end(sent, "latin1");
  }

  /** Throws when the isolate has begun another answer. */
  responseHead(status: number, head: ResponseHead, bodyLength: number): void {
    const length = bodyLength >= 0 ? bodyLength : head.claimedLength;
    this.#writeHead(status, head, length);
    this.touch();
    if (!this.#mayHaveBody(status)) {
      this.#release(false);
      this.response.end();
      return;
    }
    const window = new ResponseWindow(this.#host, (bytes) => {
      this.touch();
      this.#channel?.writer.number(FrameKind.Credit, this.#id, bytes);
    });
    this.#window = window;
    this.#remainingLength = length ?? -1;
    this.#hold();
    this.response.flushHeaders();
    this.response.on("drain", () => {
      this.touch();
      window.open();
    });
  }

  /** `isRest`: the beginning of its frame came before. Throws when the isolate breaks the rules of the channel. */
  chunk(bytes: Buffer, isRest: boolean): void {
    const cost = isRest ? bytes.length : bytes.length + pieceCostBytes;
    if (bytes.length === 0 || this.#window?.take(cost) !== true) throw new Error("it sent body bytes that nobody asked for");
    this.touch();
    if (this.#remainingLength >= 0) {
      this.#remainingLength -= bytes.length;
      if (this.#remainingLength < 0) return this.#cut();
    }
    this.meter.responseBodyBytes += bytes.length;
    if (this.response.write(this.#lasting(bytes))) this.#window.open();
  }

  end(): void {
    if (!this.#window || this.#remainingLength > 0) return this.abort();
    this.#release(true);
    this.response.end();
  }

  /** The answer was 101, and the connection is a web socket now. */
  switchProtocols(): void {
    this.#status = 101;
    this.#release(true);
  }

  /** The isolate will not complete its answer. */
  abort(): void {
    this.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker broke off its answer."), true);
  }

  /** Ends the call with an error; a begun answer is cut. The isolate hears of it when it still works on it. */
  fail(error: ApiError, isComplete = false): void {
    if (this.#isDone) return;
    this.#isBrokenOff = this.#status !== 0 && error.status >= 500;
    this.#status ||= error.status;
    this.#release(isComplete);
    this.#respondWith(error);
  }

  /** Throws when it is more than was used. */
  addRequestCredit(bytes: number): void {
    if (!this.#stream) throw new Error("it gave credit for a body that there is not");
    this.#stream.addCredit(bytes);
  }

  /** The app wants no more of the body. */
  stopBody(): void {
    this.#stream?.stop();
  }

  /** The client is gone, if it was not answered. */
  onClose(): void {
    if (!this.#isDone) this.#release(false);
  }

  readonly #onRequestClose = (): void => {
    // From `start` on the isolate is told that the body broke off, and answers.
    if (this.#channel || this.request.complete) return;
    this.fail(new ApiError("INVALID_REQUEST", "The request body broke off before it was complete."));
  };

  #takeBytes(count: number): boolean {
    this.#receivedBytes += count;
    if (this.#receivedBytes > this.#host.maxBodySizeBytes) {
      this.#refuseBody();
      return false;
    }
    this.touch();
    this.meter.requestBodyBytes += count;
    return true;
  }

  #refuseBody(): void {
    const most = this.#host.maxBodySizeBytes;
    this.fail(new ApiError("PAYLOAD_TOO_LARGE", `The request body is larger than the ${most} bytes that this worker takes.`));
  }

  #writeHead(status: number, head: ResponseHead, length: number | undefined): void {
    if (this.response.headersSent) throw new Error("it answered a call twice");
    const headers = [...head.pairs];
    const framed = framedLength(status, length);
    if (framed !== undefined) headers.push("content-length", String(framed));
    headers.push("x-request-id", this.requestId);
    this.#status = status;
    this.response.writeHead(status, headers);
  }

  /** Bytes of a frame that may be written now: those of a client that has to wait for an earlier answer are copied. */
  #lasting(bytes: Buffer): Buffer {
    return this.#hold() ? bytes : Buffer.from(bytes);
  }

  /** False when it is not this answer's turn on its connection. */
  #hold(): boolean {
    const { socket } = this.response;
    if (socket) this.#channel?.hold(socket);
    return socket !== null;
  }

  #ownLines(status: number, length: number): string {
    const framed = framedLength(status, length);
    const framing = framed === undefined ? "" : `content-length: ${framed}\r\n`;
    return `${framing}x-request-id: ${this.requestId}\r\n`;
  }

  #cut(): void {
    this.meter.noteError("WORKER_BAD_RESPONSE");
    this.#isBrokenOff = true;
    this.#release(false);
    this.response.destroy();
  }

  #respondWith(error: ApiError): void {
    this.meter.noteError(error.code);
    this.#host.onFailure(this, error);
    if (!this.response.destroyed) sendError(this.response, error, this.requestId);
  }

  #release(isComplete: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const nowMs = performance.now();
    this.meter.note(this.#status, nowMs - this.#startedMs, nowMs, this.#isBrokenOff);
    this.#window?.close();
    if (this.#stream) this.#stream.detach();
    else if (this.#bodyKind === BodyKind.Stream) discardBody(this.request);
    this.#channel?.release(this.#id, isComplete);
  }

  #mayHaveBody(status: number): boolean {
    return this.request.method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
  }
}

/** The length that a client is told: 204 and 304 have no body, and 205 has none, which only a length of 0 says (RFC 9110, 15.3.6). */
function framedLength(status: number, length: number | undefined): number | undefined {
  if (status === 205) return 0;
  return status === 204 || status === 304 ? undefined : length;
}

type CallingResponse = ServerResponse & { [callOfResponse]?: WorkerCall };

/** One function for all: a listener of its own for every request would cost more than what it does. */
function onResponseClose(this: CallingResponse): void {
  this[callOfResponse]?.onClose();
}

function bodyKindOf(request: IncomingMessage): number {
  // A GET with a body has no meaning, and `Request` refuses it.
  if (request.method === "GET" || request.method === "HEAD") return BodyKind.None;
  return hasBody(request) ? BodyKind.Stream : BodyKind.None;
}
