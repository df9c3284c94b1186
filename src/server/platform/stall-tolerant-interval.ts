/**
 * Calls `look` every `intervalMs` with the time of `performance.now()`. Skips one call after this process was blocked, so that pending
 * input is read first. Returns a function that stops the calls.
 */
export function setStallTolerantInterval(intervalMs: number, look: (nowMs: number) => void): () => void {
  let lookedMs = performance.now();
  let hasWaited = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Skips at most one call in succession. A process that is always late must still call `look`.
    hasWaited = !hasWaited && nowMs - lookedMs >= 2 * intervalMs;
    lookedMs = nowMs;
    if (!hasWaited) look(nowMs);
  }, intervalMs);
  return () => clearInterval(timer);
}
