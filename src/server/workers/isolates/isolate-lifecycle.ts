import { readFileSync } from "node:fs";
import type { IsolateProcess } from "./isolate-process.js";

const lookEveryMs = 500;
/** Share of a core that an isolate wants when it is time for another one. */
const highLoad = 0.7;
/** What the others would have to carry when one goes. */
const lowLoad = 0.4;
/** The load has to be low for so long: starting costs more than keeping. */
const shrinkAfterMs = 10_000;

/** The longest that a timer can wait is 2^31 - 1 ms. */
const longestTimerMs = 2 ** 30;
const firstDelayMs = 200;
const longestDelayMs = 30_000;
/** So many failures in a row cost nothing: a worker that crashes now and then is back at once. */
const freeFailures = 2;
/** A worker that lived this long starts over with a clean record. */
const forgivenAfterMs = 60_000;

/** How many isolates a worker with `instances: auto` needs: one core's work each, by the processor time that they want. */
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

/** How long its main thread has run or wanted to; 0 where the kernel does not say. */
function processorMs(pid: number | undefined): number {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return (Number(ranNs) + Number(waitedNs)) / 1e6;
  } catch {
    return 0;
  }
}

/** Tells an isolate each time it has been idle for `idleTimeout`, lets it go after `ttl`; both in milliseconds. */
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
    // Once told, it may be used and idle again: not before another idleTimeout.
    const untilToldMs = idleMs < idleTimeout ? idleTimeout - idleMs : idleTimeout;
    timer = setTimeout(check, Math.max(1, Math.min(ttl - idleMs, untilToldMs, longestTimerMs))).unref();
  };
  check();
  // A timer would keep what it tends, which is half a megabyte of buffers.
  void isolate.exited.then(() => clearTimeout(timer));
}

/** Keeps a worker that dies again and again from keeping the machine busy with its restarts. */
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

  /** It was restarted by hand, by somebody who knows why. */
  forgive(): void {
    this.#failures = 0;
    this.#blockedUntilMs = 0;
  }

  /** Milliseconds until it may be started again; 0 = now. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#blockedUntilMs - nowMs);
  }
}
