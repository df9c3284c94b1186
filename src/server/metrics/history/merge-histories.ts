import { sparklineMinutes, type HistoryMarker, type MetricsHistory, type Sparkline } from "../../../shared/contract/metrics-history.js";

/** Time in seconds within which the same change on several daemons is one marker. Daemons receive each other's changes within seconds. */
const sameChangeSeconds = 60;
/**
 * Maximum number of newest intervals that are omitted because a daemon has not completed them yet. Daemons complete an interval at slightly
 * different times.
 */
const mostUncompleted = 2;

/** History of one daemon. `instance` is its name. */
export interface DaemonHistory {
  readonly instance: string;
  readonly history: MetricsHistory;
}

type Points = MetricsHistory["points"];

/**
 * Adds up the histories of several daemons for the same range. Percentiles of request durations cannot be added, so each is the highest one
 * of a daemon. An interval is incomplete if a daemon has none although it has an earlier one, and every interval is incomplete if `isPartial`
 * is true, because a daemon gave no response.
 */
export function mergeHistories(
  daemons: readonly [DaemonHistory, ...DaemonHistory[]],
  { isPartial }: { readonly isPartial: boolean },
): MetricsHistory {
  const series = daemons.map(({ history: { points } }) => ({ points, indexes: new Map(points.at.map((at, index) => [at, index])) }));
  const ends = [...new Set(series.flatMap(({ points }) => points.at))].toSorted((one, other) => one - other);
  const lacksDaemon = ends.map((at) => series.some(({ points, indexes }) => (points.at[0] ?? Infinity) < at && !indexes.has(at)));
  const complete = Math.max(lacksDaemon.lastIndexOf(false) + 1, ends.length - mostUncompleted);
  const at = ends.slice(0, complete);
  const column = <Value>(read: (points: Points) => readonly Value[], merge: (values: Value[]) => Value): Value[] =>
    at.map((end) =>
      merge(
        series.flatMap(({ points, indexes }) => {
          const index = indexes.get(end);
          return index === undefined ? [] : read(points).slice(index, index + 1);
        }),
      ),
    );
  return {
    stepSeconds: daemons[0].history.stepSeconds,
    points: {
      at,
      requests: column(({ requests }) => requests, sumOf),
      failed: column(({ failed }) => failed, sumOf),
      p50Ms: column(({ p50Ms }) => p50Ms, highest),
      p99Ms: column(({ p99Ms }) => p99Ms, highest),
      memoryBytes: column(({ memoryBytes }) => memoryBytes, sumOf),
      cpuSeconds: column(
        ({ cpuSeconds }) => cpuSeconds,
        (values) => Math.round(sumOf(values) * 1000) / 1000,
      ),
      isolates: column(({ isolates }) => isolates, sumOf),
      incomplete: lacksDaemon.slice(0, complete).map((lacks) => lacks || isPartial),
    },
    markers: mergeMarkers(daemons),
  };
}

/** Adds up the sparklines of several daemons. Sorts by name. */
export function mergeSparklines(daemons: readonly (readonly Sparkline[])[], { isPartial }: { readonly isPartial: boolean }): Sparkline[] {
  const sums = new Map<string, Sparkline>();
  for (const { name, requests, failed } of daemons.flat()) {
    const sum = sums.get(name);
    sums.set(
      name,
      sum ? { name, requests: addMinutes(sum.requests, requests), failed: addMinutes(sum.failed, failed) } : { name, requests, failed },
    );
  }
  return [...sums.values()]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((sum) => (isPartial ? { ...sum, isIncomplete: true } : sum));
}

/** Returns the markers of all daemons, oldest first. A deployment or restart on several daemons is the marker of the first one. */
function mergeMarkers(daemons: readonly DaemonHistory[]): HistoryMarker[] {
  const all = daemons.flatMap(({ instance, history }) => history.markers.map((marker) => ({ ...marker, instance })));
  const kept: HistoryMarker[] = [];
  for (const marker of all.toSorted((one, other) => one.at - other.at)) {
    const first = marker.type === "start" ? undefined : kept.findLast((earlier) => isSameChange(earlier, marker));
    if (!first) kept.push(marker);
    else if (first.by === undefined && marker.by !== undefined) first.by = marker.by;
  }
  return kept;
}

function isSameChange(earlier: HistoryMarker, { at, type, worker, version, instance }: HistoryMarker): boolean {
  return (
    earlier.type === type &&
    earlier.worker === worker &&
    earlier.version === version &&
    earlier.instance !== instance &&
    at - earlier.at <= sameChangeSeconds
  );
}

function addMinutes(one: readonly number[], other: readonly number[]): number[] {
  return Array.from({ length: sparklineMinutes }, (_value, minute) => (one[minute] ?? 0) + (other[minute] ?? 0));
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function highest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
