import type { HistoryMarker, HistoryRange, MetricsHistory, Sparkline } from "../../../shared/contract/metrics-history.js";
import { historyRanges, sparklineMinutes } from "../../../shared/contract/metrics-history.js";
import type { ChartMarker } from "../../components/chart.js";

/** A history as lists of equal length for charts, oldest first. Null is a gap, for example while the daemon did not run. */
export interface HistorySeries {
  /** Length of each interval. */
  readonly stepSeconds: number;
  /** End of each interval, as Unix time in seconds. */
  readonly at: readonly number[];
  readonly requestsPerSecond: readonly (number | null)[];
  readonly succeededPerSecond: readonly (number | null)[];
  readonly failedPerSecond: readonly (number | null)[];
  /** Share of failed requests, from 0 to 1; 0 without requests. */
  readonly failedShare: readonly (number | null)[];
  readonly p50Ms: readonly (number | null)[];
  readonly p99Ms: readonly (number | null)[];
  readonly memoryBytes: readonly (number | null)[];
  readonly isolates: readonly (number | null)[];
}

export const noHistory: HistorySeries = {
  stepSeconds: historyRanges["1h"].stepSeconds,
  at: [],
  requestsPerSecond: [],
  succeededPerSecond: [],
  failedPerSecond: [],
  failedShare: [],
  p50Ms: [],
  p99Ms: [],
  memoryBytes: [],
  isolates: [],
};

/**
 * Returns the lists for the charts. Where intervals are missing, adds a point without values, so that the chart interrupts its lines. Omits
 * the last interval if it ends after `nowSeconds`, because its low values would look like a drop.
 */
export function toSeries({ points, stepSeconds }: Pick<MetricsHistory, "points" | "stepSeconds">, nowSeconds: number): HistorySeries {
  const last = points.at.at(-1) ?? 0;
  // Keeps the last interval if it ends more than one interval after `nowSeconds`. In this case, the browser's clock is slow, and the
  // interval can be complete.
  const isIncomplete = last > nowSeconds && last <= nowSeconds + stepSeconds;
  const rows = (isIncomplete ? points.at.slice(0, -1) : points.at).flatMap((at, index) => {
    const previous = points.at[index - 1];
    // A point can arrive up to one interval late.
    const hasGap = previous !== undefined && at - previous > 2 * stepSeconds;
    return hasGap
      ? [
          { at: previous + stepSeconds, index: undefined },
          { at, index },
        ]
      : [{ at, index }];
  });
  const column = <Value>(read: (index: number) => Value): (Value | null)[] =>
    rows.map(({ index }) => (index === undefined ? null : read(index)));
  const { requests, failed, p50Ms, p99Ms, memoryBytes, isolates } = points;
  return {
    stepSeconds,
    at: rows.map(({ at }) => at),
    requestsPerSecond: column((index) => count(requests, index) / stepSeconds),
    succeededPerSecond: column((index) => Math.max(0, count(requests, index) - count(failed, index)) / stepSeconds),
    failedPerSecond: column((index) => count(failed, index) / stepSeconds),
    failedShare: column((index) => (count(requests, index) === 0 ? 0 : count(failed, index) / count(requests, index))),
    p50Ms: column((index) => p50Ms[index] ?? null),
    p99Ms: column((index) => p99Ms[index] ?? null),
    memoryBytes: column((index) => count(memoryBytes, index)),
    isolates: column((index) => count(isolates, index)),
  };
}

function count(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}

/**
 * Returns the sum of the requests of all given workers in the last 60 minutes. Used for keys that are not allowed to read the history of
 * the daemon.
 */
export function sumOfSparklines(sparklines: readonly Sparkline[], nowSeconds: number): HistorySeries {
  const minutes = Array.from({ length: sparklineMinutes }, (_value, index) => index);
  const sum = (read: (one: Sparkline) => readonly number[]) =>
    minutes.map((minute) => sparklines.reduce((total, one) => total + (read(one)[minute] ?? 0), 0));
  const lastMinute = Math.floor(nowSeconds / 60) * 60;
  const gaps = minutes.map(() => null);
  const series = toSeries(
    {
      stepSeconds: 60,
      points: {
        at: minutes.map((minute) => lastMinute - (sparklineMinutes - 1 - minute) * 60),
        requests: sum(({ requests }) => requests),
        failed: sum(({ failed }) => failed),
        p50Ms: gaps,
        p99Ms: gaps,
        memoryBytes: [],
        cpuSeconds: [],
        isolates: [],
      },
    },
    nowSeconds,
  );
  return { ...series, memoryBytes: gaps, isolates: gaps };
}

/** Returns the markers of a chart. In charts of the whole daemon, each marker names its worker. */
export function toChartMarkers(markers: readonly HistoryMarker[]): ChartMarker[] {
  return markers.map(({ at, type, worker, version }) => ({ at, type, label: markerText({ type, worker, version }) }));
}

function markerText({ type, worker, version }: Pick<HistoryMarker, "type" | "worker" | "version">): string {
  if (type === "start") return "daemon start";
  if (type === "restart") return worker === undefined ? "restart" : `${worker} restart`;
  return [worker, version ?? "disabled"].filter(Boolean).join(" ");
}

export const rangeTitles: Readonly<Record<HistoryRange, string>> = { "1h": "1 h", "24h": "24 h", "14d": "14 d" };

/** Returns the time range in the query of the page's URL. Returns `1h` if the query contains no time range. */
export function rangeOf(text: string): HistoryRange {
  return Object.keys(historyRanges).find((range): range is HistoryRange => range === text) ?? "1h";
}
