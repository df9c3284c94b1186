import { sparklineMinutes, type HistoryMarker, type MetricsHistory, type Sparkline } from "../../../shared/contract/metrics-history.js";

/**
 * Maximum time in seconds between markers of the same change on several daemons. The daemon merges these markers. Daemons receive each
 * other's changes within seconds.
 */
const sameChangeSeconds = 60;
/**
 * Maximum number of newest intervals that the result omits because at least one daemon has not completed them yet. Daemons complete an
 * interval at slightly different times.
 */
const mostUncompleted = 2;

/** History of one daemon. `instance` is its unique name. */
export interface DaemonHistory {
  readonly instance: string;
  readonly history: MetricsHistory;
}

type Points = MetricsHistory["points"];

interface MergeOptions {
  /** True if at least one running daemon sent no response. */
  readonly isPartial: boolean;
  /** True for the history of whole daemons, false for that of a worker. */
  readonly isOfDaemons: boolean;
  /** Current Unix time in seconds, by the clock of this daemon. */
  readonly now: number;
}

/**
 * Adds up the histories of several daemons. A percentile is the highest one of all daemons. Marks an interval as incomplete if `isPartial`
 * is true, or if a daemon that already ran lacks it. Omits future intervals from a wrong clock.
 */
export function mergeHistories(
  daemons: readonly [DaemonHistory, ...DaemonHistory[]],
  { isPartial, isOfDaemons, now }: MergeOptions,
): MetricsHistory {
  const { stepSeconds } = daemons[0].history;
  const currentEnd = Math.ceil(now / stepSeconds) * stepSeconds;
  const series = daemons.map(({ history }) => ({
    points: history.points,
    indexes: new Map(history.points.at.map((at, index) => [at, index])),
    firstAt: firstTimeOf(history, isOfDaemons),
  }));
  const ends = [...new Set(series.flatMap(({ points }) => points.at))]
    .filter((at) => at <= currentEnd)
    .toSorted((one, other) => one - other);
  const lacks = (at: number, { firstAt, indexes }: (typeof series)[number]) => firstAt < at && !indexes.has(at);
  const lacksDaemon = ends.map((at) => series.some((one) => lacks(at, one)));
  // Ignores daemons without any interval. Otherwise the result would omit the newest intervals although these daemons complete none.
  const recording = series.filter(({ points }) => points.at.length > 0);
  const isUncompleted = ends.map((at) => recording.some((one) => lacks(at, one)));
  const complete = Math.max(isUncompleted.lastIndexOf(false) + 1, ends.length - mostUncompleted);
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
    stepSeconds,
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
      incomplete: lacksDaemon.slice(0, complete).map((isLacking) => isLacking || isPartial),
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

/**
 * Returns the Unix time in seconds of a daemon's first interval. A missing interval after this time is a gap. Without intervals: Infinity
 * for a worker, otherwise the start of the daemon, or -Infinity if no start is recorded.
 */
function firstTimeOf({ points, markers }: MetricsHistory, isOfDaemons: boolean): number {
  const [first] = points.at;
  if (first !== undefined || !isOfDaemons) return first ?? Infinity;
  return markers.find(({ type }) => type === "start")?.at ?? -Infinity;
}

/** For one change: the newest marker, and the newest marker from a different daemon than that of `newest`. */
interface NewestMarkers {
  readonly newest: HistoryMarker;
  readonly ofAnother: HistoryMarker | undefined;
}

/**
 * Returns the markers of all daemons, oldest first. If several daemons recorded the same deployment or worker restart, returns only the
 * first marker.
 */
function mergeMarkers(daemons: readonly DaemonHistory[]): HistoryMarker[] {
  const all = daemons.flatMap(({ instance, history }) => history.markers.map((marker) => ({ ...marker, instance })));
  const kept: HistoryMarker[] = [];
  const changes = new Map<string, NewestMarkers>();
  for (const marker of all.toSorted((one, other) => one.at - other.at)) {
    const change = JSON.stringify([marker.type, marker.worker, marker.version]);
    const earlier = changes.get(change);
    const ofAnother = earlier?.newest.instance === marker.instance ? earlier.ofAnother : earlier?.newest;
    if (marker.type !== "start" && ofAnother && marker.at - ofAnother.at <= sameChangeSeconds) {
      if (ofAnother.by === undefined && marker.by !== undefined) ofAnother.by = marker.by;
    } else {
      kept.push(marker);
      changes.set(change, { newest: marker, ofAnother });
    }
  }
  return kept;
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
