import { performance } from "node:perf_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../../shared/api-error.js";
import { sendError } from "../../web/error-response.js";
import { discardBody } from "../../web/request-body.js";
import type { ResponseHead } from "./response-head.js";
import { bodyKindOf, framedLength, mayHaveBody } from "./body-framing.js";
import { ResponseWindow, RequestStream } from "./body-streams.js";
import type { CallChannel } from "./call-channel.js";
import { BodyKind, FrameKind, inlineRequestBytes, pieceCostBytes } from "../protocol/frames.js";
import { FastResponseWriter } from "./fast-response-writer.js";
import type { PacedWorker } from "./bandwidth-scheduler.js";
import type { RequestLog } from "../logs/request-log.js";
import type { Visit } from "./visit.js";
import type { WorkerMeter } from "./worker-meter.js";

/** Settings and services that all calls of one version share. */
export interface CallHost extends PacedWorker {
  readonly timeoutMs: number;
  /** A call without progress for this long fails, regardless of which side it waits for. */
  readonly stallTimeoutMs: number;
  readonly maxBodySizeBytes: number;
  readonly requestLog: RequestLog;
  onFailure(call: WorkerCall, error: ApiError): void;
}

/** Key under which a response stores its call. */
const callOfResponse = Symbol("call");

/** A body up to this size is sent in one write with the headers. */
const shortBodyBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);

/** One request that an isolate serves: sends the request to the isolate, and the isolate's response to the client. */
export class WorkerCall {
  readonly visit: Visit;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly #host: CallHost;
  /** Time of the next check by the sweep, on the clock of `performance.now()`. */
  deadlineMs: number;
  /** Time of the last progress of the request or response, on the clock of `performance.now()`. */
  #progressMs: number;
  readonly #head: string;
  #bodyKind: number;
  #inlineBody: Buffer | undefined;
  #channel: CallChannel | undefined;
  #id = 0;
  #isDone = false;
  /** True when the response has begun and fails for a reason other than the client. */
  #isBrokenOff = false;
  #isReceiving = false;
  readonly #startedMs = performance.now();
  /** Status sent to the client; 0 = none yet. */
  #status = 0;
  #responseBytes = 0;
  #stream: RequestStream | undefined;
  #receivedBytes = 0;
  /** Set for a streamed response. */
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

  /** True while a small body is being received, before an isolate gets the call. */
  get isReceiving(): boolean {
    return this.#isReceiving && !this.#isDone;
  }

  /**
   * Receives a small body and rejects one that is too large, then calls `onReady`. Ends the call when the client disconnects or the body
   * fails first.
   */
  prepare(onReady: (call: WorkerCall) => void): void {
    // The client disconnected while the worker was being opened, so "close" was emitted before this call listened.
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

  /** Sends the request to an isolate. */
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

  /**
   * True while the call waits for the isolate. False while a stream waits for its bandwidth share, or for a slow client, which the HTTP
   * server times out.
   */
  get isIsolatesTurn(): boolean {
    return !this.response.writableNeedDrain && this.#window?.isHeld !== true && this.#stream?.awaitsOthers !== true;
  }

  /** Restarts the timeout after progress of the request or response. */
  touch(): void {
    this.#progressMs = performance.now();
    this.deadlineMs = this.#progressMs + this.timeoutMs;
  }

  /** Restarts the timeout of a call that waits for its client or for bandwidth, not for the isolate. */
  postpone(nowMs: number): void {
    this.deadlineMs = nowMs + this.timeoutMs;
  }

  /** Whether the call has had no progress for `stallTimeoutMs`. */
  isStalled(nowMs: number): boolean {
    return nowMs - this.#progressMs > this.#host.stallTimeoutMs;
  }

  /** Sends a complete response. Throws when the isolate has already begun a response. */
  answer(status: number, head: ResponseHead, body: Buffer): void {
    const { response } = this;
    const length = body.length === 0 && this.request.method === "HEAD" ? (head.claimedLength ?? 0) : body.length;
    const wireBody = mayHaveBody(this.request, status) ? body : noBytes;
    this.#countResponse(wireBody.length);
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

  /** Begins a streamed response. Throws when the isolate has already begun a response. */
  responseHead(status: number, head: ResponseHead, bodyLength: number): void {
    const length = bodyLength >= 0 ? bodyLength : head.claimedLength;
    this.#writeHead(status, head, length);
    this.touch();
    if (!mayHaveBody(this.request, status)) {
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

  /** Sends body bytes to the client. `isRest`: the bytes continue a frame. Throws when the isolate violates the protocol. */
  chunk(bytes: Buffer, isRest: boolean): void {
    const cost = isRest ? bytes.length : bytes.length + pieceCostBytes;
    if (bytes.length === 0 || this.#window?.take(cost) !== true) throw new Error("the isolate sent body bytes without credit");
    this.touch();
    if (this.#remainingLength >= 0) {
      this.#remainingLength -= bytes.length;
      if (this.#remainingLength < 0) return this.#cut();
    }
    this.#countResponse(bytes.length);
    if (this.response.write(this.#lasting(bytes))) this.#window.open();
  }

  end(): void {
    if (!this.#window || this.#remainingLength > 0) return this.abort();
    this.#release(true);
    this.response.end();
  }

  /** Ends the call after a 101 response: the connection is a WebSocket now. */
  switchProtocols(): void {
    this.#status = 101;
    this.#release(true);
  }

  /** Fails the call because the isolate will not complete its response. */
  abort(): void {
    this.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker aborted its response."), true);
  }

  /** Ends the call with an error; a response that has begun is cut off. Cancels the request at the isolate unless `isComplete`. */
  fail(error: ApiError, isComplete = false): void {
    if (this.#isDone) return;
    this.#isBrokenOff = this.#status !== 0 && error.status >= 500;
    this.#status ||= error.status;
    this.#release(isComplete);
    this.#respondWith(error);
  }

  /** Returns credit for the request body. Throws when the isolate returns more than it received. */
  addRequestCredit(bytes: number): void {
    if (!this.#stream) throw new Error("the isolate returned credit for a request without a streamed body");
    this.#stream.addCredit(bytes);
  }

  /** Stops the request body: the worker does not read the rest. */
  stopBody(): void {
    this.#stream?.stop();
  }

  /** Releases the call when the client disconnected before its response. */
  onClose(): void {
    if (!this.#isDone) this.#release(false);
  }

  readonly #onRequestClose = (): void => {
    // After `start`, the isolate receives the abort of the body and responds.
    if (this.#channel || this.request.complete) return;
    this.fail(new ApiError("INVALID_REQUEST", "The request body ended before it was complete."));
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
    this.fail(new ApiError("PAYLOAD_TOO_LARGE", `The request body exceeds this worker's limit of ${most} bytes.`));
  }

  #writeHead(status: number, head: ResponseHead, length: number | undefined): void {
    if (this.response.headersSent) throw new Error("the isolate responded to a request twice");
    const headers = [...head.pairs];
    const framed = framedLength(status, length);
    if (framed !== undefined) headers.push("content-length", String(framed));
    headers.push("x-request-id", this.requestId);
    this.#status = status;
    this.response.writeHead(status, headers);
  }

  /** Returns frame bytes that can be written now; copies them when the response must wait for an earlier one on its connection. */
  #lasting(bytes: Buffer): Buffer {
    return this.#hold() ? bytes : Buffer.from(bytes);
  }

  /** Corks the socket until the current read is processed. Returns false while an earlier response occupies the connection. */
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
    const durationMs = nowMs - this.#startedMs;
    this.meter.note(this.#status, durationMs, nowMs, this.#isBrokenOff);
    this.#host.requestLog.write(this.visit, { status: this.#status, durationMs, responseBytes: this.#responseBytes });
    this.#window?.close();
    if (this.#stream) this.#stream.detach();
    else if (this.#bodyKind === BodyKind.Stream) discardBody(this.request);
    this.#channel?.release(this.#id, isComplete);
  }

  #countResponse(bytes: number): void {
    this.#responseBytes += bytes;
    this.meter.responseBodyBytes += bytes;
  }
}

type CallingResponse = ServerResponse & { [callOfResponse]?: WorkerCall };

/** Shared by all requests: a separate closure per request would cost more than its work. */
function onResponseClose(this: CallingResponse): void {
  this[callOfResponse]?.onClose();
}
