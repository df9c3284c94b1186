import { performance } from "node:perf_hooks";
import type { WorkerMeter } from "./worker-meter.js";

/** For this long after a request to another worker, bodies are paced. */
const sharedForMs = 100;
/** A late timer makes up for at most this much lost time. */
const slackMs = 2;

/** The scheduler and the meter of one worker: the meter separates its requests from those of other workers. */
export interface PacedWorker {
  readonly pace: BandwidthScheduler;
  readonly meter: WorkerMeter;
}

/**
 * Paces body streams. An unpaced stream keeps two processors busy and delays the responses of other workers. While other workers receive
 * requests, all bodies share `bytesPerSecond`; otherwise each flows at full speed.
 */
export class BandwidthScheduler {
  readonly #bytesPerMs: number;
  readonly #waiting: { readonly lane: BandwidthShare; readonly bytes: number }[] = [];
  #callCount = 0;
  /** When the transmission time of the last released bytes ends, on the clock of `performance.now()`. */
  #busyUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `bytesPerSecond`: bandwidth that all bodies share while other workers receive requests. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /** Counts a request. The engine calls this for every request to any worker. */
  noteCall(): void {
    this.#callCount += 1;
  }

  /** Creates the share of one body of a worker. `onTurn` receives the number of bytes that can flow after each `ask`. */
  lane(meter: WorkerMeter, onTurn: (bytes: number) => void): BandwidthShare {
    return new BandwidthShare(this, () => this.#callCount - meter.beganCount, onTurn);
  }

  /** Queues `bytes` of a share; shares are served first in, first out. */
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

/** The share of one body, in one direction. */
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

  /** Bytes requested by `ask` that are not released yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Releases `bytes`: immediately, or through the queue while other workers receive requests. */
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

  /** Ends the share: queued bytes are discarded and later calls of `ask` have no effect. */
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
