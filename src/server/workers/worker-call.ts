import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { answerError } from "../answer-error.js";
import type { AnswerHead } from "./answer-head.js";
import { BodyKind, creditWindowBytes, FrameKind, inlineRequestBytes } from "./isolate/frames.js";
import type { FrameWriter } from "./isolate/frame-writer.js";
import type { Visit } from "./visit.js";

/** The isolate's side of a call, as the call sees it. */
export interface CallChannel {
  readonly writer: FrameWriter;
  /** The call needs nothing more; `isComplete` = the isolate has said its last word about it. */
  release(id: number, isComplete: boolean): void;
}

/** A body up to this size leaves as one piece with its header. */
const joinedBodyBytes = 16 * 1024;

/** One request of a client that an isolate answers: what goes to the isolate, and what comes back to the wire. */
export class WorkerCall {
  readonly visit: Visit;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly timeoutMs: number;
  /** On the clock of `performance.now()`. */
  deadlineMs: number;
  readonly #head: string;
  readonly #maxBodySizeBytes: number;
  readonly #onFailure: (error: ApiError) => void;
  #bodyKind: number;
  #inlineBody: Buffer | undefined;
  #channel: CallChannel | undefined;
  #id = 0;
  #isDone = false;
  #receivedBytes = 0;
  /** Body bytes that the isolate still takes. */
  #requestCredit = creditWindowBytes;
  /** Body bytes that the isolate may still send, and those taken whose credit was not given back yet. */
  #answerWindow = creditWindowBytes;
  #owedCredit = 0;
  #isStreaming = false;
  #remainingLength = -1;

  constructor(options: { visit: Visit; head: string; timeoutMs: number; maxBodySizeBytes: number; onFailure: (error: ApiError) => void }) {
    this.visit = options.visit;
    this.request = options.visit.request;
    this.response = options.visit.response;
    this.requestId = options.visit.requestId;
    this.timeoutMs = options.timeoutMs;
    this.deadlineMs = performance.now() + options.timeoutMs;
    this.#head = options.head;
    this.#maxBodySizeBytes = options.maxBodySizeBytes;
    this.#onFailure = options.onFailure;
    this.#bodyKind = bodyKindOf(this.request);
    this.response.on("close", this.#onClose);
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Waits for a small body, refuses one that is too large; calls back when the call can be given to an isolate. */
  prepare(onReady: (call: WorkerCall) => void): void {
    if (this.#bodyKind === BodyKind.None) return onReady(this);
    const length = Number(this.request.headers["content-length"] ?? Number.NaN);
    if (length > this.#maxBodySizeBytes) return this.#refuseBody();
    if (!(length <= inlineRequestBytes)) return onReady(this);
    const chunks: Buffer[] = [];
    this.request.on("data", (chunk: Buffer) => chunks.push(chunk));
    this.request.on("end", () => {
      if (this.#isDone) return;
      this.#bodyKind = BodyKind.Inline;
      this.#inlineBody = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      this.touch();
      onReady(this);
    });
    this.request.on("error", () => undefined);
  }

  /** Hands the request to an isolate. */
  start(channel: CallChannel, id: number): void {
    this.#channel = channel;
    this.#id = id;
    channel.writer.request(id, this.#head, this.#bodyKind, this.#inlineBody);
    this.#inlineBody = undefined;
    if (this.#bodyKind === BodyKind.Stream) this.#streamBody(channel.writer);
  }

  /** True when the isolate owes the next move; false while the client is the one that is slow, which the HTTP server puts an end to. */
  get isIsolatesTurn(): boolean {
    const owesBody = this.#bodyKind === BodyKind.Stream && !this.request.complete && this.#requestCredit > 0;
    return !this.response.writableNeedDrain && !owesBody;
  }

  touch(): void {
    this.deadlineMs = performance.now() + this.timeoutMs;
  }

  /** Throws when the isolate has begun another answer. */
  answer(status: number, head: AnswerHead, body: Buffer): void {
    const length = body.length === 0 && this.request.method === "HEAD" ? (head.claimedLength ?? 0) : body.length;
    this.#writeHead(status, head, length);
    this.#release(true);
    if (body.length === 0 || !this.#mayHaveBody(status)) this.response.end();
    // A text leaves in one piece with the header, bytes would be a second one.
    else if (body.length <= joinedBodyBytes) this.response.end(body.toString("latin1"), "latin1");
    else this.response.end(body);
  }

  /** Throws when the isolate has begun another answer. */
  answerHead(status: number, head: AnswerHead, bodyLength: number): void {
    const length = bodyLength >= 0 ? bodyLength : head.claimedLength;
    this.#writeHead(status, head, length);
    this.touch();
    if (!this.#mayHaveBody(status)) {
      this.#release(false);
      this.response.end();
      return;
    }
    this.#isStreaming = true;
    this.#remainingLength = length ?? -1;
    this.response.flushHeaders();
    this.response.on("drain", () => this.#giveCredit());
  }

  /** Throws when the isolate breaks the rules of the channel. */
  chunk(bytes: Buffer): void {
    this.#answerWindow -= bytes.length;
    if (!this.#isStreaming || bytes.length === 0 || this.#answerWindow < 0) throw new Error("it sent body bytes that nobody asked for");
    this.touch();
    if (this.#remainingLength >= 0) {
      this.#remainingLength -= bytes.length;
      if (this.#remainingLength < 0) return this.#cut();
    }
    this.#owedCredit += bytes.length;
    if (this.response.write(bytes) && this.#owedCredit >= creditWindowBytes / 4) this.#giveCredit();
  }

  end(): void {
    if (!this.#isStreaming || this.#remainingLength > 0) return this.abort();
    this.#release(true);
    this.response.end();
  }

  /** The isolate will not complete its answer. */
  abort(): void {
    this.#release(true);
    this.#answerWith(new ApiError("WORKER_BAD_RESPONSE", "The worker broke off its answer."));
  }

  /** Ends the call with an error; a begun answer is cut. The isolate hears of it when it still works on it. */
  fail(error: ApiError, isComplete = false): void {
    if (this.#isDone) return;
    this.#release(isComplete);
    this.#answerWith(error);
  }

  /** Throws when it is more than was used. */
  addRequestCredit(bytes: number): void {
    this.#requestCredit += bytes;
    if (bytes === 0 || this.#requestCredit > creditWindowBytes) throw new Error("it gave credit that it does not have");
    if (this.#requestCredit > 0) this.request.resume();
  }

  /** The app wants no more of the body: what still comes is thrown away. */
  stopBody(): void {
    this.request.removeListener("data", this.#onBodyChunk);
    this.request.resume();
  }

  readonly #onClose = (): void => {
    if (this.#isDone) return;
    // The client is gone.
    this.#release(false);
  };

  readonly #onBodyChunk = (chunk: Buffer): void => {
    if (this.#isDone) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maxBodySizeBytes) return this.#refuseBody();
    this.touch();
    this.#requestCredit -= chunk.length;
    this.#channel?.writer.bytes(FrameKind.Chunk, this.#id, chunk);
    if (this.#requestCredit <= 0) this.request.pause();
  };

  #streamBody(writer: FrameWriter): void {
    this.request.on("data", this.#onBodyChunk);
    this.request.on("end", () => {
      if (!this.#isDone) writer.empty(FrameKind.End, this.#id);
    });
    this.request.on("error", () => {
      if (!this.#isDone) writer.empty(FrameKind.Abort, this.#id);
    });
  }

  #refuseBody(): void {
    this.fail(
      new ApiError("PAYLOAD_TOO_LARGE", `The request body is larger than the ${this.#maxBodySizeBytes} bytes that this worker takes.`),
    );
  }

  #writeHead(status: number, head: AnswerHead, length: number | undefined): void {
    if (this.response.headersSent) throw new Error("it answered a call twice");
    const headers = [...head.pairs];
    if (length !== undefined && status !== 204 && status !== 304) headers.push("content-length", String(length));
    headers.push("x-request-id", this.requestId);
    this.response.writeHead(status, headers);
  }

  #giveCredit(): void {
    if (this.#isDone || this.#owedCredit === 0) return;
    this.touch();
    this.#channel?.writer.number(FrameKind.Credit, this.#id, this.#owedCredit);
    this.#answerWindow += this.#owedCredit;
    this.#owedCredit = 0;
  }

  #cut(): void {
    this.#release(false);
    this.response.destroy();
  }

  #answerWith(error: ApiError): void {
    this.#onFailure(error);
    if (!this.response.destroyed) answerError(this.response, error, this.requestId);
  }

  #release(isComplete: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.response.removeListener("close", this.#onClose);
    if (this.#bodyKind === BodyKind.Stream) this.#discardBody();
    this.#channel?.release(this.#id, isComplete);
  }

  /** What the client still sends is read so that its connection can carry the next request; the HTTP server bounds it. */
  #discardBody(): void {
    this.request.removeListener("data", this.#onBodyChunk);
    if (this.request.complete || this.request.destroyed) return;
    this.request.resume();
  }

  #mayHaveBody(status: number): boolean {
    return this.request.method !== "HEAD" && status !== 204 && status !== 205 && status !== 304;
  }
}

function bodyKindOf(request: IncomingMessage): number {
  // A GET with a body has no meaning, and `Request` refuses it.
  if (request.method === "GET" || request.method === "HEAD") return BodyKind.None;
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  return hasBody ? BodyKind.Stream : BodyKind.None;
}
