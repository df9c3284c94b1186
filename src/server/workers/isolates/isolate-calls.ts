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

/** A cancelled call whose last frame has not come yet. */
const abandoned = Symbol("abandoned");
/** After these the isolate says no more about a call. */
const lastFrames: ReadonlySet<number> = new Set([FrameKind.Answer, FrameKind.Failed, FrameKind.End, FrameKind.Abort]);
/** Calls after which it counts again how many there are at once. */
const windowCalls = 1024;

type Abandoned = typeof abandoned;

/** The calls that one isolate works on, by their number in its frames. */
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

  /** Calls that clients gave up and the app has not come back from. */
  get abandonedCount(): number {
    return this.#exchanges.size - this.#runningCount;
  }

  /** How many calls there ever were. */
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

  /** What came from the isolate together goes to each client in one write. True when one has not taken all: the bytes are still used then. */
  letGo(): boolean {
    let isWaiting = false;
    for (const socket of this.#held) {
      socket.uncork();
      isWaiting ||= socket.writableLength > 0;
    }
    if (this.#held.size > 0) this.#held.clear();
    return isWaiting;
  }

  /** Hands a frame to its call; throws when the isolate breaks the rules of the channel. */
  onFrame(kind: number, id: number, { buffer, start, end, isRest = false }: FramePayload): void {
    const call = this.#exchanges.get(id);
    if (call === undefined) throw new Error("it answered a call that it was never given");
    if (call === abandoned) return this.#onLateFrame(kind, id, buffer.subarray(start, end));
    switch (kind) {
      case FrameKind.Answer: {
        const headEnd = start + 6 + buffer.readUInt32LE(start + 2);
        if (headEnd > end) throw new Error("it sent an answer that is cut short");
        const status = buffer.readUInt16LE(start);
        const head = this.#readHead(call, status, buffer.toString("latin1", start + 6, headEnd));
        return head ? call.answer(status, head, buffer.subarray(headEnd, end)) : this.#refuse(call, true);
      }
      case FrameKind.ResponseHead: {
        const status = buffer.readUInt16LE(start);
        const length = buffer.readDoubleLE(start + 2);
        if (!Number.isSafeInteger(length) || length < -1) throw new Error("it announced a body of impossible length");
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
            ? "The worker failed to handle the request; its log has the reason."
            : "The worker answered with something that is not a valid response; its log has the reason.";
        return call.fail(new ApiError("WORKER_BAD_RESPONSE", what), true);
      }
      case FrameKind.SocketOpen:
        return this.#openSocket(call, buffer.subarray(start, end));
      default:
        throw new Error(`it sent a frame of kind ${kind} for a call`);
    }
  }

  /** Frames that crossed our Cancel on their way. */
  #onLateFrame(kind: number, id: number, payload: Buffer): void {
    this.#floodGuard.count();
    if (kind === FrameKind.SocketOpen) this.#sockets.refuse(payload.readUInt32LE(0));
    else if (!lastFrames.has(kind)) return;
    this.#exchanges.delete(id);
  }

  /** The app answered 101 and gave the client one end of a pair. */
  #openSocket(call: WorkerCall, payload: Buffer): void {
    const number = payload.readUInt32LE(0);
    const { upgrade } = call.visit;
    const head = payload.length <= responseHeadBytes ? this.#headsOf(call).read(payload.toString("latin1", 4)) : undefined;
    if (upgrade && head && !this.#sockets.isFull) {
      // The socket first: with neither call nor socket a draining isolate ends.
      this.#sockets.open(number, upgrade, { head, requestId: call.requestId });
      return call.switchProtocols();
    }
    this.#sockets.refuse(number);
    if (!upgrade)
      call.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker answered with a web socket to a request that is no upgrade."), true);
    else if (head)
      call.fail(new ApiError("WORKER_POOL_SATURATED", "The worker has too many web sockets open.", { retryAfterSeconds }), true);
    else this.#refuse(call, true);
  }

  #readHead(call: WorkerCall, status: number, text: string): ResponseHead | undefined {
    return status >= 200 && status <= 599 && text.length <= responseHeadBytes ? this.#headsOf(call).read(text) : undefined;
  }

  #headsOf({ visit }: WorkerCall): ResponseHeads {
    return ownsOrigin(visit.address) ? this.#headsAtHosts : this.#heads;
  }

  #refuse(call: WorkerCall, isComplete: boolean): void {
    call.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker answered with a status or headers that HTTP cannot carry."), isComplete);
  }
}

/**
 * Says when the calls that wait to be sent to an isolate should go: as soon as they are half of all that there are at once. So the isolate
 * works on one half while the daemon reads the other from its clients. Sent all together, at the end of a turn of the event loop, they
 * would have each of the two wait for the other; sent one by one, each would cost a write and a wake.
 */
export class BatchPolicy {
  #count = 0;
  /** The most calls at once, in this window and in the one before. */
  #most = 0;
  #mostBefore = 0;

  /** To be asked for each call: `waitingCount` of the `runningCount` calls of the isolate were not sent yet. */
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
