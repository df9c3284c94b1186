import { readFileSync } from "node:fs";
import type { IsolateProcess } from "./isolate-process.js";

const measureEveryMs = 500;
/** Minimum CPU load per isolate at which one more isolate starts. The value is a share of one core. */
const highLoad = 0.7;
/** Maximum CPU load per remaining isolate at which one isolate stops. The value is a share of one core. */
const lowLoad = 0.4;
/** Time in ms for which the load must be low before an isolate stops. An isolate that stops too early must be started again. */
const shrinkAfterMs = 10_000;

/** Maximum delay of the idle timer in ms. The maximum of Node.js is 2^31 - 1 ms. */
const longestTimerMs = 2 ** 30;
const firstDelayMs = 200;
const longestDelayMs = 30_000;
/**
 * Maximum number of failures in succession after which the next start is still immediate. A worker that crashes rarely therefore restarts
 * without a delay.
 */
const failuresWithoutDelay = 2;
/** If a worker has no failure for this time in ms, its next failure counts as the first one. */
const failureMemoryMs = 60_000;

/** Calculates how many isolates a worker with `instances: auto` needs, from the CPU load of its isolates. */
export class AutoScale {
  readonly #most: number;
  #measuredMs = 0;
  #highMs = 0;
  #used = new Map<IsolateProcess, number>();

  constructor(options: { most: number }) {
    this.#most = options.most;
  }

  wantedCount(isolates: readonly IsolateProcess[], nowMs: number): number {
    const elapsedMs = nowMs - this.#measuredMs;
    if (elapsedMs < measureEveryMs) return isolates.length;
    this.#measuredMs = nowMs;
    const before = this.#used;
    this.#used = new Map(isolates.map((isolate) => [isolate, processorMs(isolate.pid)]));
    let load = 0;
    for (const [isolate, usedMs] of this.#used) load += Math.max(0, usedMs - (before.get(isolate) ?? usedMs)) / elapsedMs;
    if (load > (isolates.length - 1) * lowLoad) this.#highMs = nowMs;
    if (load >= isolates.length * highLoad) return Math.min(this.#most, isolates.length + 1);
    const canShrink = isolates.length > 1 && nowMs - this.#highMs >= shrinkAfterMs;
    if (!canShrink) return isolates.length;
    this.#highMs = nowMs;
    return isolates.length - 1;
  }
}

/**
 * Returns the time in ms in which the main thread of a process ran or waited for a CPU. Returns 0 if the kernel does not report this time.
 */
function processorMs(pid: number | undefined): number {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return (Number(ranNs) + Number(waitedNs)) / 1e6;
  } catch {
    return 0;
  }
}

/** Notifies an isolate after `idleTimeout` without requests, and drains it after `ttl` without requests. Both times are in ms. */
export function watchIdleness(isolate: IsolateProcess, { idleTimeout, ttl }: { idleTimeout: number; ttl: number }): void {
  let notifiedAtMs = -1;
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    const idleMs = isolate.isIdle ? performance.now() - isolate.lastUsedMs : 0;
    if (idleMs >= ttl) return isolate.drain();
    if (idleMs >= idleTimeout && notifiedAtMs !== isolate.lastUsedMs) {
      notifiedAtMs = isolate.lastUsedMs;
      isolate.notifyIdle();
    }
    // Time until the isolate can next be idle for `idleTimeout`. After a notification, a new idle period must first begin, so this takes at
    // least `idleTimeout`.
    const untilNotificationMs = idleMs < idleTimeout ? idleTimeout - idleMs : idleTimeout;
    timer = setTimeout(check, Math.max(1, Math.min(ttl - idleMs, untilNotificationMs, longestTimerMs))).unref();
  };
  check();
  // Stops the timer. Otherwise it would keep the isolate's buffers of 512 KB in memory.
  void isolate.exited.then(() => clearTimeout(timer));
}

/** Delays restarts of a worker that crashes repeatedly, because each restart takes CPU time from other workers. */
export class CrashBackOff {
  #failures = 0;
  #lastFailureMs = 0;
  #blockedUntilMs = 0;

  noteFailure(nowMs: number): void {
    if (nowMs - this.#lastFailureMs > failureMemoryMs) this.#failures = 0;
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    const excess = this.#failures - failuresWithoutDelay;
    this.#blockedUntilMs = excess <= 0 ? nowMs : nowMs + Math.min(longestDelayMs, firstDelayMs * 2 ** (excess - 1));
  }

  /** Deletes the recorded failures after a manual restart. */
  reset(): void {
    this.#failures = 0;
    this.#blockedUntilMs = 0;
  }

  /** Returns the time in ms until the next start is allowed. 0 means immediately. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#blockedUntilMs - nowMs);
  }
}
