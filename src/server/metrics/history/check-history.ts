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

/** Returns whether a history of another daemon has at most as much as a daemon records for the range, in lists of equal length. */
export function isPossibleHistory({ stepSeconds, points, markers }: MetricsHistory, { worker, range }: HistorySelection): boolean {
  const expected = historyRanges[range];
  const { at } = points;
  return (
    stepSeconds === (worker === undefined ? expected.stepSeconds : Math.max(expected.stepSeconds, shortestWorkerStepSeconds)) &&
    // The current interval is in addition to those of the range.
    at.length <= expected.seconds / stepSeconds + 1 &&
    Object.values(points).every((list) => list === undefined || list.length === at.length) &&
    // The history of a worker contains markers of the worker and starts of the daemon.
    markers.length <= 2 * keptMarkers
  );
}

/** Returns whether sparklines of another daemon have at most as many minutes as a daemon records, in lists of equal length. */
export function arePossibleSparklines(sparklines: readonly Sparkline[]): boolean {
  return sparklines.every(({ requests, failed }) => requests.length <= sparklineMinutes && failed.length === requests.length);
}
