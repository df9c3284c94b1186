import {
  historyRanges,
  sparklineMinutes,
  type HistoryRange,
  type MetricsHistory,
  type Sparkline,
} from "../../../shared/contract/metrics-history.js";
import { keptMarkers } from "./history-series.js";

/** Length in seconds of the shortest interval in the history of a worker. */
const shortestWorkerStepSeconds = 60;

/** The part of a history that a caller requests. `worker` is undefined for whole daemons. */
export interface HistorySelection {
  readonly worker: string | undefined;
  readonly range: HistoryRange;
}

/**
 * Checks a history that another daemon sent. Returns false for a wrong interval length, for lists of different lengths, or for more points
 * or markers than a daemon records for the range.
 */
export function isPossibleHistory({ stepSeconds, points, markers }: MetricsHistory, { worker, range }: HistorySelection): boolean {
  const expected = historyRanges[range];
  const { at } = points;
  return (
    stepSeconds === (worker === undefined ? expected.stepSeconds : Math.max(expected.stepSeconds, shortestWorkerStepSeconds)) &&
    // Adds 1, because a history also contains the current interval.
    at.length <= expected.seconds / stepSeconds + 1 &&
    Object.values(points).every((list) => list === undefined || list.length === at.length) &&
    // Multiplies by 2, because a worker's history contains up to `keptMarkers` markers of the worker and as many starts of the daemon.
    markers.length <= 2 * keptMarkers
  );
}

/** Checks sparklines that another daemon sent. Returns false for more minutes than a daemon records, or for lists of different lengths. */
export function arePossibleSparklines(sparklines: readonly Sparkline[]): boolean {
  return sparklines.every(({ requests, failed }) => requests.length <= sparklineMinutes && failed.length === requests.length);
}
