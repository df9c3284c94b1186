/**
 * Has somebody look at the clock every `intervalMs`, but not at once after we were held up (by a long task, by a machine that stood
 * still): what came meanwhile is read first, and whoever had no chance to answer gets one. `nowMs` is on the clock of
 * `performance.now()`. Returns what ends it.
 */
export function setStallTolerantInterval(intervalMs: number, look: (nowMs: number) => void): () => void {
  let lookedMs = performance.now();
  let hasWaited = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    // Once: a process that is late all the time still looks.
    hasWaited = !hasWaited && nowMs - lookedMs >= 2 * intervalMs;
    lookedMs = nowMs;
    if (!hasWaited) look(nowMs);
  }, intervalMs);
  return () => clearInterval(timer);
}
