import type { Socket } from "node:net";
import { ApiError } from "../../../shared/api-error.js";
import { ResponseHeads, type ResponseHead } from "../engine/response-head.js";
import { ownsOrigin } from "../engine/worker-address.js";
import type { CallChannel } from "../engine/call-channel.js";
import type { FloodLimiter } from "./flood-limiter.js";
import { SlotMap } from "../protocol/slot-map.js";
import type { FramePayload } from "../protocol/frame-reader.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { responseHeadBytes, FailureReason, FrameKind } from "../protocol/frames.js";
import { FastResponseWriter } from "../engine/fast-response-writer.js";
import type { IsolateSockets } from "../sockets/isolate-sockets.js";
import { retryAfterSeconds } from "../sockets/socket-limits.js";
import type { WorkerCall } from "../engine/worker-call.js";

/** Takes the place of a cancelled call in the map until the last frame of the call has arrived. */
const abandoned = Symbol("abandoned");
/**
 * Frames that end a call. The isolate sends exactly one of them for each call, even after a Cancel frame. Then both sides can use the
 * number of the call again.
 */
const lastFrames: ReadonlySet<number> = new Set([FrameKind.FullResponse, FrameKind.Failed, FrameKind.End, FrameKind.Abort]);
/** Number of calls after which `BatchPolicy` starts a new measurement of the maximum number of concurrent calls. */
const windowCalls = 1024;

type Abandoned = typeof abandoned;

/** The running calls of one isolate. The key is the exchange number, which identifies the call in frames. */
export class IsolateCalls implements CallChannel {
  readonly writer: FrameWriter;
  readonly fastResponseWriter = new FastResponseWriter();
  readonly #onRelease: (abandoned: WorkerCall | undefined) => void;
  readonly #floodGuard: FloodLimiter;
  readonly #sockets: IsolateSockets;
  readonly #exchanges = new SlotMap<WorkerCall | Abandoned>();
  readonly #heads = new ResponseHeads({ ownsOrigin: false });
  readonly #headsAtHosts = new ResponseHeads({ ownsOrigin: true });
  readonly #handOver = new BatchPolicy();
  readonly #held = new Set<Socket>();
  #runningCount = 0;
  #acceptedCount = 0;

  constructor(options: {
    writer: FrameWriter;
    floodGuard: FloodLimiter;
    sockets: IsolateSockets;
    onRelease: (abandoned: WorkerCall | undefined) => void;
  }) {
    this.writer = options.writer;
    this.#sockets = options.sockets;
    this.#floodGuard = options.floodGuard;
    this.#onRelease = options.onRelease;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  /** Number of cancelled calls whose last frame has not arrived. */
  get abandonedCount(): number {
    return this.#exchanges.size - this.#runningCount;
  }

  /** Number of calls that the isolate has received since its start. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  *[Symbol.iterator](): Iterator<WorkerCall> {
    for (const exchange of this.#exchanges) if (exchange !== abandoned) yield exchange;
  }

  run(call: WorkerCall): void {
    this.#acceptedCount += 1;
    this.#runningCount += 1;
    call.start(this, this.#exchanges.add(call));
    if (this.#handOver.isDue(this.writer.waitingRequests, this.#runningCount)) this.writer.flush();
  }

  release(id: number, isComplete: boolean): void {
    this.#runningCount -= 1;
    if (isComplete) {
      this.#exchanges.delete(id);
      this.#onRelease(undefined);
      return;
    }
    const call = this.#exchanges.get(id) as WorkerCall;
    this.#exchanges.set(id, abandoned);
    this.writer.empty(FrameKind.Cancel, id);
    this.#onRelease(call);
  }

  failAll(error: ApiError): void {
    for (const call of this) call.fail(error, true);
  }

  hold(socket: Socket): void {
    if (this.#held.has(socket)) return;
    socket.cork();
    this.#held.add(socket);
  }

  /**
   * Uncorks the clients' sockets. A client then receives all frames of one read in one write. Returns true if a socket has unsent bytes of
   * the read buffer.
   */
  uncork(): boolean {
    let isWaiting = false;
    for (const socket of this.#held) {
      socket.uncork();
      isWaiting ||= socket.writableLength > 0;
    }
    if (this.#held.size > 0) this.#held.clear();
    return isWaiting;
  }

  /** Passes a frame of the isolate to its call. Throws if the isolate violates the protocol. */
  onFrame(kind: number, id: number, { buffer, start, end, isRest = false }: FramePayload): void {
    const call = this.#exchanges.get(id);
    if (call === undefined) throw new Error("the isolate sent a frame for an unknown call");
    if (call === abandoned) return this.#onLateFrame(kind, id, buffer.subarray(start, end));
    switch (kind) {
      case FrameKind.FullResponse: {
        const headEnd = start + 6 + buffer.readUInt32LE(start + 2);
        if (headEnd > end) throw new Error("the isolate sent a truncated response");
        const status = buffer.readUInt16LE(start);
        const head = this.#readHead(call, status, buffer.toString("latin1", start + 6, headEnd));
        return head ? call.answer(status, head, buffer.subarray(headEnd, end)) : this.#refuse(call, true);
      }
      case FrameKind.ResponseHead: {
        const status = buffer.readUInt16LE(start);
        const length = buffer.readDoubleLE(start + 2);
        if (!Number.isSafeInteger(length) || length < -1) throw new Error("the isolate announced a body of invalid length");
        const head = this.#readHead(call, status, buffer.toString("latin1", start + 10, end));
        return head ? call.responseHead(status, head, length) : this.#refuse(call, false);
      }
      case FrameKind.Chunk:
        return call.chunk(buffer.subarray(start, end), isRest);
      case FrameKind.End:
        return call.end();
      case FrameKind.Abort:
        return call.abort();
      case FrameKind.Credit:
        return call.addRequestCredit(buffer.readUInt32LE(start));
      case FrameKind.StopBody:
        this.#floodGuard.count();
        return call.stopBody();
      case FrameKind.Failed: {
        const reason = buffer[start];
        const what =
          reason === FailureReason.Threw
            ? "The worker failed to handle the request. The worker's log has the reason."
            : "The worker did not return a valid response. The worker's log has the reason.";
        return call.fail(new ApiError("WORKER_BAD_RESPONSE", what), true);
      }
      case FrameKind.SocketOpen:
        return this.#openSocket(call, buffer.subarray(start, end));
      default:
        throw new Error(`the isolate sent a frame of kind ${kind} for a call`);
    }
  }

  /** Handles a frame for a cancelled call. After the last frame of the call, its number is free. */
  #onLateFrame(kind: number, id: number, payload: Buffer): void {
    this.#floodGuard.count();
    if (kind === FrameKind.SocketOpen) this.#sockets.refuse(payload.readUInt32LE(0));
    else if (!lastFrames.has(kind)) return;
    this.#exchanges.delete(id);
  }

  /** Opens the WebSocket that the worker has accepted by a response with status 101. */
  #openSocket(call: WorkerCall, payload: Buffer): void {
    const number = payload.readUInt32LE(0);
    const { upgrade } = call.exchange;
    const head = payload.length <= responseHeadBytes ? this.#headsOf(call).read(payload.toString("latin1", 4)) : undefined;
    if (upgrade && head && !this.#sockets.isFull) {
      // Opens the socket before the end of the call, because a draining isolate stops when it has neither calls nor sockets.
      this.#sockets.open(number, upgrade, { head, requestId: call.requestId });
      return call.switchProtocols();
    }
    this.#sockets.refuse(number);
    if (!upgrade)
      call.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker returned a WebSocket, but the request is not a WebSocket upgrade."), true);
    else if (head)
      call.fail(
        new ApiError("WORKER_POOL_SATURATED", "The worker has too many open WebSockets. Retry later.", { retryAfterSeconds }),
        true,
      );
    else this.#refuse(call, true);
  }

  #readHead(call: WorkerCall, status: number, text: string): ResponseHead | undefined {
    return status >= 200 && status <= 599 && text.length <= responseHeadBytes ? this.#headsOf(call).read(text) : undefined;
  }

  #headsOf({ exchange: visit }: WorkerCall): ResponseHeads {
    return ownsOrigin(visit.address) ? this.#headsAtHosts : this.#heads;
  }

  #refuse(call: WorkerCall, isComplete: boolean): void {
    call.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker returned a status or headers that are not valid in HTTP."), isComplete);
  }
}

/**
 * Decides when the daemon sends waiting calls to an isolate: when half of all concurrent calls wait. Daemon and isolate can then work at
 * the same time. A separate send would take one system call and one wake-up for each call.
 */
export class BatchPolicy {
  #count = 0;
  /** Maximum number of concurrent calls in the current window. `#mostBefore` is the maximum of the previous window. */
  #most = 0;
  #mostBefore = 0;

  /**
   * Returns whether the daemon should now send the waiting calls. Must be used exactly once for each new worker call. `runningCount`
   * includes `waitingCount`.
   */
  isDue(waitingCount: number, runningCount: number): boolean {
    if (runningCount > this.#most) this.#most = runningCount;
    this.#count += 1;
    if (this.#count === windowCalls) {
      this.#count = 0;
      this.#mostBefore = this.#most;
      this.#most = runningCount;
    }
    return waitingCount * 2 >= Math.max(this.#most, this.#mostBefore);
  }
}
