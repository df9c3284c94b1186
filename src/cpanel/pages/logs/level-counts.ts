import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { TimeRange } from "./log-query.js";
import type { LogRow } from "./log-row.js";

/** Number of intervals of the histogram. */
const intervals = 60;

/** Number of log entries of each level in each interval. All intervals have equal length. */
export interface LevelCounts {
  /** Start of the first interval, in Unix milliseconds. */
  readonly startMs: number;
  readonly intervalMs: number;
  /** Time of the oldest entry in Unix milliseconds. */
  readonly oldestMs: number;
  readonly counts: Readonly<Record<LogLevel, readonly number[]>>;
  /** Largest number of entries in one interval. */
  readonly most: number;
}

/**
 * Counts the log entries of the rows in intervals over the range. Without a range, the intervals cover the time from the oldest to the newest
 * entry. Returns undefined if the rows contain no entry.
 */
export function countLevels(rows: readonly LogRow[], range?: TimeRange): LevelCounts | undefined {
  let oldestMs = Infinity;
  let newestMs = -Infinity;
  for (const { entry } of rows) {
    if (!entry) continue;
    oldestMs = Math.min(oldestMs, entry.time);
    newestMs = Math.max(newestMs, entry.time);
  }
  if (oldestMs > newestMs) return undefined;
  const { startMs, endMs } = range ?? { startMs: oldestMs, endMs: newestMs + 1 };
  const intervalMs = Math.max(1, Math.ceil((endMs - startMs) / intervals));
  const empty = () => Array.from({ length: intervals }, () => 0);
  const counts = { debug: empty(), info: empty(), warn: empty(), error: empty() };
  const totals = empty();
  for (const { entry } of rows) {
    if (!entry) continue;
    const index = Math.floor((entry.time - startMs) / intervalMs);
    // Skips an entry outside of the range. The range can move forward, so that an older entry is no longer inside.
    if (index < 0 || index >= intervals) continue;
    const ofLevel = counts[entry.level];
    ofLevel[index] = (ofLevel[index] ?? 0) + 1;
    totals[index] = (totals[index] ?? 0) + 1;
  }
  return { startMs, intervalMs, oldestMs, counts, most: Math.max(...totals) };
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
