import { readFileSync } from "node:fs";
import type { IsolateProcess } from "./isolate-process.js";

const lookEveryMs = 500;
/** Load per isolate, as a share of one core, that starts another isolate. */
const highLoad = 0.7;
/** Load per remaining isolate below which one isolate is stopped. */
const lowLoad = 0.4;
/** The load must stay low for this long before an isolate is stopped, because starting costs more than keeping. */
const shrinkAfterMs = 10_000;

/** Below Node's maximum timer delay of 2^31 - 1 ms. */
const longestTimerMs = 2 ** 30;
const firstDelayMs = 200;
const longestDelayMs = 30_000;
/** Consecutive failures without a delay: a worker that crashes rarely restarts immediately. */
const freeFailures = 2;
/** A failure after this much time without failures counts as the first one. */
const forgivenAfterMs = 60_000;

/** Computes the number of isolates of a worker with `instances: auto` from their CPU demand: one core's work per isolate. */
export class AutoScale {
  readonly #most: number;
  #lookedMs = 0;
  #highMs = 0;
  #used = new Map<IsolateProcess, number>();

  constructor(options: { most: number }) {
    this.#most = options.most;
  }

  wantedCount(isolates: readonly IsolateProcess[], nowMs: number): number {
    const elapsedMs = nowMs - this.#lookedMs;
    if (elapsedMs < lookEveryMs) return isolates.length;
    this.#lookedMs = nowMs;
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

/** Returns the time that the main thread has run or waited for a CPU; 0 when the kernel does not report it. */
function processorMs(pid: number | undefined): number {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return (Number(ranNs) + Number(waitedNs)) / 1e6;
  } catch {
    return 0;
  }
}

/** Notifies an isolate after each idle period of `idleTimeout` and drains it after `ttl` of idleness. Both in milliseconds. */
export function tendIsolate(isolate: IsolateProcess, { idleTimeout, ttl }: { idleTimeout: number; ttl: number }): void {
  let toldAtMs = -1;
  let timer: NodeJS.Timeout | undefined;
  const check = (): void => {
    const idleMs = isolate.isIdle ? performance.now() - isolate.lastUsedMs : 0;
    if (idleMs >= ttl) return isolate.drain();
    if (idleMs >= idleTimeout && toldAtMs !== isolate.lastUsedMs) {
      toldAtMs = isolate.lastUsedMs;
      isolate.tellIdle();
    }
    // After a notification, the next one is at least `idleTimeout` away.
    const untilToldMs = idleMs < idleTimeout ? idleTimeout - idleMs : idleTimeout;
    timer = setTimeout(check, Math.max(1, Math.min(ttl - idleMs, untilToldMs, longestTimerMs))).unref();
  };
  check();
  // Cleared because the timer would retain the isolate's buffers of 512 KB.
  void isolate.exited.then(() => clearTimeout(timer));
}

/** Delays the restarts of a worker that crashes repeatedly, so that restarts do not exhaust the machine. */
export class CrashBackOff {
  #failures = 0;
  #lastFailureMs = 0;
  #blockedUntilMs = 0;

  noteFailure(nowMs: number): void {
    if (nowMs - this.#lastFailureMs > forgivenAfterMs) this.#failures = 0;
    this.#failures += 1;
    this.#lastFailureMs = nowMs;
    const excess = this.#failures - freeFailures;
    this.#blockedUntilMs = excess <= 0 ? nowMs : nowMs + Math.min(longestDelayMs, firstDelayMs * 2 ** (excess - 1));
  }

  /** Clears the failures after a manual restart. */
  forgive(): void {
    this.#failures = 0;
    this.#blockedUntilMs = 0;
  }

  /** Returns the milliseconds until the next start is allowed; 0 = now. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#blockedUntilMs - nowMs);
  }
}
