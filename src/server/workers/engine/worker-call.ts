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
import type { BandwidthClient } from "./bandwidth-scheduler.js";
import type { RequestLog } from "../logs/request-log.js";
import type { WorkerExchange } from "./worker-exchange.js";
import type { WorkerMeter } from "./worker-meter.js";

/** Settings and services that all calls of one version share. */
export interface CallHost extends BandwidthClient {
  readonly timeoutMs: number;
  /** Time limit in ms without a transferred byte for a call that waits for its client or for bandwidth. The call then fails. */
  readonly stallTimeoutMs: number;
  readonly maxBodySizeBytes: number;
  readonly requestLog: RequestLog;
  onFailure(call: WorkerCall, error: ApiError): void;
}

/** Property of a `ServerResponse` that contains its `WorkerCall`. */
const callOfResponse = Symbol("call");

/** Maximum size in bytes of a response body that the daemon sends in one write with the headers. */
const shortBodyBytes = 16 * 1024;
const noBytes = Buffer.alloc(0);

/** One request that an isolate serves. Sends the request to the isolate and the isolate's response to the client. */
export class WorkerCall {
  readonly exchange: WorkerExchange;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly #host: CallHost;
  /** Time at which the deadline sweep fails or postpones the call, by the clock of `performance.now()`. */
  deadlineMs: number;
  /** Time of the last transferred byte of the request or response, on the clock of `performance.now()`. */
  #progressMs: number;
  readonly #head: string;
  #bodyKind: number;
  #inlineBody: Buffer | undefined;
  #channel: CallChannel | undefined;
  #id = 0;
  #isDone = false;
  /** True if the daemon ended a begun response early for a reason other than a disconnected client. */
  #isBrokenOff = false;
  #isReceiving = false;
  readonly #startedMs = performance.now();
  /** HTTP status that the daemon has sent to the client. 0 before the response. */
  #status = 0;
  #responseBytes = 0;
  #stream: RequestStream | undefined;
  #receivedBytes = 0;
  /** Credit that the isolate has for the body of a streamed response. Undefined if the response is not streamed. */
  #window: ResponseWindow | undefined;
  #remainingLength = -1;

  constructor(exchange: WorkerExchange, head: string, host: CallHost) {
    this.exchange = exchange;
    this.request = exchange.request;
    this.response = exchange.response;
    this.requestId = exchange.requestId;
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

  /** True while the daemon receives a small request body. Afterwards the daemon sends the call to an isolate. */
  get isReceiving(): boolean {
    return this.#isReceiving && !this.#isDone;
  }

  /**
   * Receives a small request body, then calls `onReady`. Rejects a body that is too large. Ends the call when the client disconnects first.
   */
  prepare(onReady: (call: WorkerCall) => void): void {
    // Checks whether the client has already disconnected, because Node.js emits the event "close" only once.
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
   * True while the call waits for the isolate. False while a body stream waits for bandwidth or for a slow client. The stall timeout
   * applies to these streams.
   */
  get waitsForIsolate(): boolean {
    return !this.response.writableNeedDrain && this.#window?.isHeld !== true && this.#stream?.waitsForOthers !== true;
  }

  /** Restarts the time limits after the transfer of a byte. */
  touch(): void {
    this.#progressMs = performance.now();
    this.deadlineMs = this.#progressMs + this.timeoutMs;
  }

  /** Extends the deadline of a call that waits for its client or for bandwidth. */
  postpone(nowMs: number): void {
    this.deadlineMs = nowMs + this.timeoutMs;
  }

  /** Returns whether no byte was transferred for `stallTimeoutMs`. */
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

  /** Sends body bytes to the client. `isRest`: the bytes continue an incomplete frame. Throws when the isolate violates the protocol. */
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

  /** Ends the call after a 101 response, because the connection is now a WebSocket. */
  switchProtocols(): void {
    this.#status = 101;
    this.#release(true);
  }

  /** Fails the call because the isolate will not complete its response. */
  abort(): void {
    this.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker aborted its response."), true);
  }

  /** Ends the call with an error. Cuts off a response that has begun. If `isComplete` is false, cancels the request in the isolate. */
  fail(error: ApiError, isComplete = false): void {
    if (this.#isDone) return;
    this.#isBrokenOff = this.#status !== 0 && error.status >= 500;
    this.#status ||= error.status;
    this.#release(isComplete);
    this.#respondWith(error);
  }

  /** Adds credit for the request body. Throws if the isolate returns more bytes than it has received. */
  addRequestCredit(bytes: number): void {
    if (!this.#stream) throw new Error("the isolate returned credit for a request without a streamed body");
    this.#stream.addCredit(bytes);
  }

  /** Stops sending the request body, because the worker does not read the rest of the body. */
  stopBody(): void {
    this.#stream?.stop();
  }

  /** Releases the call if the client disconnected before the response was complete. */
  onClose(): void {
    if (!this.#isDone) this.#release(false);
  }

  readonly #onRequestClose = (): void => {
    // After `start`, does nothing, because the isolate receives an Abort frame for the body and sends a response.
    if (this.#channel || this.request.complete) return;
    this.fail(new ApiError("INVALID_REQUEST", "The request ended before its body was complete."));
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

  /**
   * Returns bytes that stay valid until the socket has sent them. If an earlier response occupies the connection (HTTP pipelining), copies
   * the bytes.
   */
  #lasting(bytes: Buffer): Buffer {
    return this.#hold() ? bytes : Buffer.from(bytes);
  }

  /** Corks the client's socket until the current read is processed. Returns false if an earlier response occupies the connection. */
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
    this.exchange.cron?.onError(error);
    if (!this.response.destroyed) sendError(this.response, error, this.requestId);
  }

  #release(isComplete: boolean): void {
    if (this.#isDone) return;
    this.#isDone = true;
    const nowMs = performance.now();
    const durationMs = nowMs - this.#startedMs;
    this.meter.note(this.#status, durationMs, nowMs, this.#isBrokenOff);
    this.#host.requestLog.write(this.exchange, { status: this.#status, durationMs, responseBytes: this.#responseBytes });
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

/** Close listener that all responses share. A new function per request would take more CPU time than the listener itself. */
function onResponseClose(this: CallingResponse): void {
  this[callOfResponse]?.onClose();
}
