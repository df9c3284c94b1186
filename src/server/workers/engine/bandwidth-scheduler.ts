import { performance } from "node:perf_hooks";
import type { WorkerMeter } from "./worker-meter.js";

/** So long after a call the machine still counts as shared with its worker. */
const sharedForMs = 100;
/** A turn that comes later than it should is made up for by so much. */
const slackMs = 2;

/** What tells the bodies of one worker from those of others. */
export interface PacedWorker {
  readonly pace: BandwidthScheduler;
  readonly meter: WorkerMeter;
}

/**
 * Says when a body goes on. One that nobody slows down keeps two processors busy, and everybody else's answers wait for one of them:
 * while other workers are asked, all bodies share a part of the machine. Beside none, each flows as fast as it can.
 */
export class BandwidthScheduler {
  readonly #bytesPerMs: number;
  readonly #waiting: { readonly lane: BandwidthShare; readonly bytes: number }[] = [];
  #callCount = 0;
  /** What went on last has had its time by then, on the clock of `performance.now()`. */
  #busyUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `bytesPerSecond` is that part. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /** To be told of every call, for whichever worker. */
  noteCall(): void {
    this.#callCount += 1;
  }

  /** For one body of a worker: `onTurn` hears of the bytes that may flow, `ask` by `ask`. */
  lane(meter: WorkerMeter, onTurn: (bytes: number) => void): BandwidthShare {
    return new BandwidthShare(this, () => this.#callCount - meter.beganCount, onTurn);
  }

  /** The lane's turn comes when those before it have had theirs. */
  queue(lane: BandwidthShare, bytes: number): void {
    this.#waiting.push({ lane, bytes });
    if (this.#timer === undefined) this.#release();
  }

  readonly #release = (): void => {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!next.lane.isClosed) {
        if (this.#busyUntilMs > nowMs) break;
        this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs - slackMs) + next.bytes / this.#bytesPerMs;
      }
      this.#waiting.shift();
      next.lane.go(next.bytes);
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(this.#release, Math.max(1, this.#busyUntilMs - nowMs));
  };
}

/** One body, in one direction. */
export class BandwidthShare {
  readonly #pace: BandwidthScheduler;
  readonly #countOthers: () => number;
  readonly #onTurn: (bytes: number) => void;
  #othersCount: number;
  #sharedUntilMs = 0;
  #waitingBytes = 0;
  #isClosed = false;

  constructor(pace: BandwidthScheduler, countOthers: () => number, onTurn: (bytes: number) => void) {
    this.#pace = pace;
    this.#countOthers = countOthers;
    this.#onTurn = onTurn;
    this.#othersCount = countOthers();
  }

  /** Bytes that were asked for and have not had their turn. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Has these bytes go on: at once, or in turn when others need the machine. */
  ask(bytes: number): void {
    if (this.#isClosed) return;
    this.#waitingBytes += bytes;
    if (this.#isShared()) this.#pace.queue(this, bytes);
    else this.go(bytes);
  }

  go(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (!this.#isClosed) this.#onTurn(bytes);
  }

  /** It asks no more, and what it asked for is not needed. */
  close(): void {
    this.#isClosed = true;
  }

  #isShared(): boolean {
    const nowMs = performance.now();
    const othersCount = this.#countOthers();
    if (othersCount !== this.#othersCount) this.#sharedUntilMs = nowMs + sharedForMs;
    this.#othersCount = othersCount;
    return nowMs < this.#sharedUntilMs;
  }
}
