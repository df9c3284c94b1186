/** Formats the duration of a run, such as `12 ms`, `1.5 s` or `2 min 5 s`. */
export function durationText(durationMs: number | null): string {
  if (durationMs === null) return "–";
  if (durationMs < 1000) return `${durationMs} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
