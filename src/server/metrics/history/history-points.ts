import { historyRanges, type HistoryRange, type MetricsHistory } from "../../../shared/contract/metrics-history.js";
import type { SeriesData } from "./history-series.js";
import type { MetricRing } from "./metric-ring.js";
import type { MetricRow } from "./metric-row.js";

interface HistoryParts {
  /** History of the daemon. The rows of the daemon show when the daemon was running. */
  readonly daemon: SeriesData;
  /** Rows of the daemon, each for an interval of 10 s. */
  readonly tens: MetricRing;
  /** History of the worker. Undefined if the caller reads the history of the daemon. */
  readonly worker: SeriesData | undefined;
  readonly range: HistoryRange;
  readonly nowSeconds: number;
}

/**
 * Returns the points and markers of a range. If the daemon was running and the worker was idle in an interval, the point of this interval
 * contains zeros.
 */
export function toHistory({ daemon, tens, worker, range, nowSeconds }: HistoryParts): MetricsHistory {
  const { seconds } = historyRanges[range];
  const stepSeconds = worker ? (Math.max(historyRanges[range].stepSeconds, 60) as 60 | 900) : historyRanges[range].stepSeconds;
  const ringOf = ({ minutes, quarterHours }: SeriesData): MetricRing => (stepSeconds === 900 ? quarterHours : minutes);
  const newest = nowSeconds / stepSeconds;
  // Includes the current interval of 10 or 60 s, because the daemon writes the row of the current minute early when it stops. Includes an
  // interval of 900 s only after its end.
  const [from, to] = [Math.floor(newest - seconds / stepSeconds) + 1, stepSeconds === 900 ? newest : Math.ceil(newest)];
  const running = (stepSeconds === 10 ? tens : ringOf(daemon)).rows(from, to);
  const rows = worker ? withIdleRows(ringOf(worker), running, [from, to]) : running;
  const since = nowSeconds - seconds;
  const starts = daemon.markers.filter(({ type }) => type === "start");
  const markers = worker ? [...starts, ...worker.markers].toSorted((one, other) => one.at - other.at) : daemon.markers;
  return { stepSeconds, points: toPoints(rows, stepSeconds), markers: markers.filter(({ at }) => at > since) };
}

/**
 * Returns the rows of a worker. After the worker's first row, adds a row of zeros for each interval in which the daemon was running and the
 * worker has no row.
 */
function withIdleRows(ring: MetricRing, running: readonly MetricRow[], [from, to]: readonly [number, number]): MetricRow[] {
  const [first] = ring.rows();
  if (!first) return [];
  const rows = new Map(ring.rows(from, to).map((row) => [row.slot, row]));
  for (const { slot } of running) if (slot > first.slot && !rows.has(slot)) rows.set(slot, idleRow(slot));
  return [...rows.values()].toSorted((one, other) => one.slot - other.slot);
}

function idleRow(slot: number): MetricRow {
  return { slot, requests: 0, failed: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, memoryKilobytes: 0, cpuSeconds: 0, isolates: 0 };
}

function toPoints(rows: readonly MetricRow[], stepSeconds: number): MetricsHistory["points"] {
  return {
    at: rows.map(({ slot }) => slot * stepSeconds),
    requests: rows.map(({ requests }) => requests),
    failed: rows.map(({ failed }) => failed),
    p50Ms: rows.map(({ p50Ms }) => (Number.isNaN(p50Ms) ? null : toThousandths(p50Ms))),
    p99Ms: rows.map(({ p99Ms }) => (Number.isNaN(p99Ms) ? null : toThousandths(p99Ms))),
    memoryBytes: rows.map(({ memoryKilobytes }) => memoryKilobytes * 1024),
    cpuSeconds: rows.map(({ cpuSeconds }) => toThousandths(cpuSeconds)),
    isolates: rows.map(({ isolates }) => isolates),
  };
}

/** Rounds a value to three decimal places. A row stores the value as a float of 4 bytes, so further digits have no meaning. */
function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
