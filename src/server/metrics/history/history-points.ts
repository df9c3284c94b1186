import { historyRanges, type HistoryRange, type MetricsHistory } from "../../../shared/contract/metrics-history.js";
import type { SeriesData } from "./history-series.js";
import type { MetricRing } from "./metric-ring.js";
import type { MetricRow } from "./metric-row.js";

interface HistoryParts {
  /** History of the daemon, whose rows show when the daemon ran. */
  readonly daemon: SeriesData;
  /** Rows of 10 s of the daemon. */
  readonly tens: MetricRing;
  /** Undefined for the history of the daemon. */
  readonly worker: SeriesData | undefined;
  readonly range: HistoryRange;
  readonly nowSeconds: number;
}

/** Returns the points and markers of a range. An interval in which the daemon ran and the worker was idle has a point with zeros. */
export function toHistory({ daemon, tens, worker, range, nowSeconds }: HistoryParts): MetricsHistory {
  const { seconds } = historyRanges[range];
  const stepSeconds = worker ? (Math.max(historyRanges[range].stepSeconds, 60) as 60 | 900) : historyRanges[range].stepSeconds;
  const ringOf = ({ minutes, quarterHours }: SeriesData): MetricRing => (stepSeconds === 900 ? quarterHours : minutes);
  const newest = nowSeconds / stepSeconds;
  // A minute that a restart interrupted is shown before its end. 900 s are shown only when they are complete.
  const [from, to] = [Math.floor(newest - seconds / stepSeconds) + 1, stepSeconds === 900 ? newest : Math.ceil(newest)];
  const running = (stepSeconds === 10 ? tens : ringOf(daemon)).rows(from, to);
  const rows = worker ? withIdleRows(ringOf(worker), running, [from, to]) : running;
  const since = nowSeconds - seconds;
  const starts = daemon.markers.filter(({ type }) => type === "start");
  const markers = worker ? [...starts, ...worker.markers].toSorted((one, other) => one.at - other.at) : daemon.markers;
  return { stepSeconds, points: toPoints(rows, stepSeconds), markers: markers.filter(({ at }) => at > since) };
}

/** Returns the rows of a worker, and a row of zeros for each other interval of the daemon since the worker's first row. */
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

/** Rounds a number to three decimal places. It was stored in 4 bytes, so further digits have no meaning. */
function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
