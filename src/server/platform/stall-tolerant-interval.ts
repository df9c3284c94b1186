/**
 * Calls `onTick` every `intervalMs` with the time of `performance.now()`. Skips one call after this process was blocked, so that pending
 * input is read first. Returns a function that stops the calls.
 */
export function setStallTolerantInterval(intervalMs: number, onTick: (nowMs: number) => void): () => void {
  let lastTickMs = performance.now();
  let hasWaited = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Skips at most one call in succession. A process that is always late must still call `onTick`.
    hasWaited = !hasWaited && nowMs - lastTickMs >= 2 * intervalMs;
    lastTickMs = nowMs;
    if (!hasWaited) onTick(nowMs);
  }, intervalMs);
  return () => clearInterval(timer);
}
