import { performance } from "node:perf_hooks";
import type { WorkerMeter } from "./worker-meter.js";

/** Time in ms for which the scheduler limits the rate after a request to another worker. */
const sharedForMs = 100;
/** If a timer is late, the scheduler releases additional bytes for at most this delay in ms. */
const slackMs = 2;

/**
 * The scheduler, with the request counter of one worker. The scheduler counts the requests to all workers. The difference from the count in
 * `meter` is the number of requests to other workers.
 */
export interface BandwidthClient {
  readonly scheduler: BandwidthScheduler;
  readonly meter: WorkerMeter;
}

/**
 * Limits the rate of streamed bodies, because an unlimited stream occupies two processors and delays other workers. While other workers
 * receive requests, all bodies share `bytesPerSecond`. Otherwise there is no limit.
 */
export class BandwidthScheduler {
  readonly #bytesPerMs: number;
  readonly #waiting: { readonly share: BandwidthShare; readonly bytes: number }[] = [];
  #callCount = 0;
  /** Time, by the clock of `performance.now()`, at which all released bytes will have been transferred at the allowed rate. */
  #busyUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `bytesPerSecond` is the total rate of all bodies while other workers receive requests. */
  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1000;
  }

  /** Counts a request. The engine calls this function for each request to a worker. */
  noteCall(): void {
    this.#callCount += 1;
  }

  /**
   * Creates the share of one body. After each call of `ask`, the scheduler calls `onTurn` with the number of bytes that the body is allowed
   * to transfer.
   */
  createShare(meter: WorkerMeter, onTurn: (bytes: number) => void): BandwidthShare {
    return new BandwidthShare(this, () => this.#callCount - meter.beganCount, onTurn);
  }

  /** Queues a transfer of `bytes` bytes for `share`. The scheduler releases queued transfers in the order of their arrival. */
  queue(share: BandwidthShare, bytes: number): void {
    this.#waiting.push({ share, bytes });
    if (this.#timer === undefined) this.#release();
  }

  readonly #release = (): void => {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (!next.share.isClosed) {
        if (this.#busyUntilMs > nowMs) break;
        this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs - slackMs) + next.bytes / this.#bytesPerMs;
      }
      this.#waiting.shift();
      next.share.go(next.bytes);
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(this.#release, Math.max(1, this.#busyUntilMs - nowMs));
  };
}

/** Requests bandwidth from the scheduler for one request body or one response body. */
export class BandwidthShare {
  readonly #scheduler: BandwidthScheduler;
  readonly #countOthers: () => number;
  readonly #onTurn: (bytes: number) => void;
  #othersCount: number;
  #sharedUntilMs = 0;
  #waitingBytes = 0;
  #isClosed = false;

  constructor(scheduler: BandwidthScheduler, countOthers: () => number, onTurn: (bytes: number) => void) {
    this.#scheduler = scheduler;
    this.#countOthers = countOthers;
    this.#onTurn = onTurn;
    this.#othersCount = countOthers();
  }

  /** Number of bytes that `ask` has requested and the scheduler has not released yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Requests the transfer of `bytes` bytes. If no other worker receives requests, the scheduler releases these bytes immediately. Otherwise
   * the bytes wait in the queue.
   */
  ask(bytes: number): void {
    if (this.#isClosed) return;
    this.#waitingBytes += bytes;
    if (this.#isShared()) this.#scheduler.queue(this, bytes);
    else this.go(bytes);
  }

  go(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (!this.#isClosed) this.#onTurn(bytes);
  }

  /** Closes the share: discards its queued bytes and ignores later calls of `ask`. */
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
