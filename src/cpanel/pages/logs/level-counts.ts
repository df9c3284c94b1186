import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { LogRow } from "./log-row.js";

/** Number of intervals of the histogram. */
const intervals = 60;

/** Number of log entries of each level in each interval. All intervals have equal length. */
export interface LevelCounts {
  /** Start of the first interval, in Unix milliseconds. */
  readonly startMs: number;
  readonly intervalMs: number;
  readonly counts: Readonly<Record<LogLevel, readonly number[]>>;
  /** Largest number of entries in one interval. */
  readonly most: number;
}

/** Counts the log entries of the rows in intervals from the oldest to the newest entry. Returns undefined if the rows contain no entry. */
export function countLevels(rows: readonly LogRow[]): LevelCounts | undefined {
  let startMs = Infinity;
  let endMs = -Infinity;
  for (const { entry } of rows) {
    if (!entry) continue;
    startMs = Math.min(startMs, entry.time);
    endMs = Math.max(endMs, entry.time);
  }
  if (startMs > endMs) return undefined;
  const intervalMs = Math.max(1, Math.ceil((endMs - startMs + 1) / intervals));
  const empty = () => Array.from({ length: intervals }, () => 0);
  const counts = { debug: empty(), info: empty(), warn: empty(), error: empty() };
  const totals = empty();
  for (const { entry } of rows) {
    if (!entry) continue;
    const index = Math.floor((entry.time - startMs) / intervalMs);
    const ofLevel = counts[entry.level];
    ofLevel[index] = (ofLevel[index] ?? 0) + 1;
    totals[index] = (totals[index] ?? 0) + 1;
  }
  return { startMs, intervalMs, counts, most: Math.max(...totals) };
}

/** Returns a sentence with the number of entries in an interval, such as `34 entries, 3 errors`. */
export function countText({ counts }: LevelCounts, index: number): string {
  const of = (level: LogLevel) => counts[level][index] ?? 0;
  const total = of("debug") + of("info") + of("warn") + of("error");
  const parts = [named(total, "entry", "entries")];
  if (of("error") > 0) parts.push(named(of("error"), "error", "errors"));
  if (of("warn") > 0) parts.push(named(of("warn"), "warning", "warnings"));
  return parts.join(", ");
}

function named(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}
