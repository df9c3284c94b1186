import type { IsolateProcess } from "./isolate-process.js";

/** The longest that a timer can wait is 2^31 - 1 ms. */
const longestTimerMs = 2 ** 30;

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
