/**
 * Calls `look` every `intervalMs`, but skips one call after this process has stalled, so that pending input is read first. `nowMs` is the
 * time of `performance.now()`. Returns a function that stops the interval.
 */
export function setStallTolerantInterval(intervalMs: number, look: (nowMs: number) => void): () => void {
  let lookedMs = performance.now();
  let hasWaited = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Skips only one call, because a process that is always late must still call `look`.
    hasWaited = !hasWaited && nowMs - lookedMs >= 2 * intervalMs;
    lookedMs = nowMs;
    if (!hasWaited) look(nowMs);
  }, intervalMs);
  return () => clearInterval(timer);
}
