import { ApiError } from "../../shared/api-error.js";
import { AnswerHeads, type AnswerHead } from "./answer-head.js";
import type { FloodGuard } from "./flood-guard.js";
import type { FramePayload } from "./isolate/frame-reader.js";
import type { FrameWriter } from "./isolate/frame-writer.js";
import { answerHeadBytes, FailureReason, FrameKind } from "./isolate/frames.js";
import type { CallChannel, WorkerCall } from "./worker-call.js";

/** The calls that one isolate works on, by their number in its frames. */
export class IsolateCalls implements CallChannel {
  readonly writer: FrameWriter;
  readonly #onRelease: (abandoned: WorkerCall | undefined) => void;
  readonly #floodGuard: FloodGuard;
  readonly #running = new Map<number, WorkerCall>();
  /** Cancelled calls whose last frame has not come yet. */
  readonly #abandoned = new Set<number>();
  readonly #heads = new AnswerHeads();
  #nextId = 1;
  #acceptedCount = 0;

  constructor(options: { writer: FrameWriter; floodGuard: FloodGuard; onRelease: (abandoned: WorkerCall | undefined) => void }) {
    this.writer = options.writer;
    this.#floodGuard = options.floodGuard;
    this.#onRelease = options.onRelease;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Calls that clients gave up and the app has not come back from. */
  get abandonedCount(): number {
    return this.#abandoned.size;
  }

  /** How many calls there ever were. */
  get acceptedCount(): number {
    return this.#acceptedCount;
  }

  [Symbol.iterator](): Iterator<WorkerCall> {
    return this.#running.values();
  }

  run(call: WorkerCall): void {
    const id = this.#nextId;
    this.#nextId = id === 0xffff_ffff ? 1 : id + 1;
    this.#acceptedCount += 1;
    this.#running.set(id, call);
    call.start(this, id);
  }

  release(id: number, isComplete: boolean): void {
    const call = this.#running.get(id);
    this.#running.delete(id);
    if (!isComplete) {
      this.writer.empty(FrameKind.Cancel, id);
      this.#abandoned.add(id);
    }
    this.#onRelease(isComplete ? undefined : call);
  }

  failAll(error: ApiError): void {
    for (const call of this.#running.values()) call.fail(error, true);
  }

  /** Hands a frame to its call; throws when the isolate breaks the rules of the channel. */
  onFrame(kind: number, id: number, { buffer, start, end }: FramePayload): void {
    const call = this.#running.get(id);
    if (!call) return this.#onLateFrame(kind, id);
    switch (kind) {
      case FrameKind.Answer: {
        const headEnd = start + 6 + buffer.readUInt32LE(start + 2);
        if (headEnd > end) throw new Error("it sent an answer that is cut short");
        const status = buffer.readUInt16LE(start);
        const head = this.#readHead(status, buffer.toString("latin1", start + 6, headEnd));
        return head ? call.answer(status, head, buffer.subarray(headEnd, end)) : this.#refuse(call, true);
      }
      case FrameKind.AnswerHead: {
        const status = buffer.readUInt16LE(start);
        const length = buffer.readDoubleLE(start + 2);
        if (!Number.isSafeInteger(length) || length < -1) throw new Error("it announced a body of impossible length");
        const head = this.#readHead(status, buffer.toString("latin1", start + 10, end));
        return head ? call.answerHead(status, head, length) : this.#refuse(call, false);
      }
      case FrameKind.Chunk:
        return call.chunk(buffer.subarray(start, end));
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
      default:
        throw new Error(`it sent a frame of kind ${kind} for a call`);
    }
  }

  /** Frames that crossed our Cancel on their way. */
  #onLateFrame(kind: number, id: number): void {
    if (!this.#abandoned.has(id)) throw new Error("it answered a call that it was never given");
    this.#floodGuard.count();
    const isLast = kind === FrameKind.Answer || kind === FrameKind.Failed || kind === FrameKind.End || kind === FrameKind.Abort;
    if (isLast) this.#abandoned.delete(id);
  }

  #readHead(status: number, text: string): AnswerHead | undefined {
    return status >= 200 && status <= 599 && text.length <= answerHeadBytes ? this.#heads.read(text) : undefined;
  }

  #refuse(call: WorkerCall, isComplete: boolean): void {
    call.fail(new ApiError("WORKER_BAD_RESPONSE", "The worker answered with a status or headers that HTTP cannot carry."), isComplete);
  }
}
