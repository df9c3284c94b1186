/**
 * Has somebody look every `intervalMs`, and at once no more after a stall of ours (a long task, a machine that was stopped): what came
 * meanwhile is read first, and whoever had no chance to answer gets one. `nowMs` is on the clock of `performance.now()`. Answers with
 * what ends it.
 */
export function whileListening(intervalMs: number, look: (nowMs: number) => void): () => void {
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
