import type { IsolateProcess } from "./isolate-process.js";

/** The longest that a timer can wait is 2^31 - 1 ms. */
const longestTimerMs = 2 ** 30;

/** Tells an isolate when it has been idle for `idleTimeout`, lets it go after `ttl`; both in milliseconds. */
export function tendIsolate(isolate: IsolateProcess, { idleTimeout, ttl }: { idleTimeout: number; ttl: number }): void {
  let toldAtMs = -1;
  const check = (): void => {
    if (isolate.hasExited) return;
    const idleMs = isolate.isIdle ? performance.now() - isolate.lastUsedMs : 0;
    if (idleMs >= ttl) return isolate.drain();
    if (idleMs >= idleTimeout && toldAtMs !== isolate.lastUsedMs) {
      toldAtMs = isolate.lastUsedMs;
      isolate.tellIdle();
    }
    const dueMs = [ttl, idleTimeout].filter((limit) => limit > idleMs).map((limit) => limit - idleMs);
    setTimeout(check, Math.max(1, Math.min(...dueMs, longestTimerMs))).unref();
  };
  check();
}
