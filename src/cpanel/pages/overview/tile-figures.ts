import type { HistoryRange } from "../../../shared/contract/metrics-history.js";
import { startText } from "../../components/problem-start.js";
import { rangeTitles, type HistorySeries } from "./metrics-history.js";

/** Figures of the last minute. */
interface MinuteFigures {
  readonly requestsPerSecond: number;
  /** Share of failed requests, from 0 to 1. */
  readonly failureShare: number;
  readonly p99Ms: number | null;
}

/** A figure with its period. The sparkline covers the same period. */
interface TileFigure<Value> {
  readonly value: Value;
  /** The meaning of the figure and its period, such as `Mean of the last 1 h`. */
  readonly note: string;
  /** Values of the sparkline, oldest first. Empty if the history has no values in the period. */
  readonly values: readonly number[];
}

/** Figures over the period of the history. */
export interface TileFigures {
  readonly requests: TileFigure<number>;
  readonly failing: TileFigure<number>;
  readonly latency: TileFigure<number | null>;
}

/**
 * Returns the figures of the tiles over the period of the history. While the history has no values, returns the figures of the last minute
 * without sparklines.
 */
export function tileFigures(series: HistorySeries, range: HistoryRange, minute: MinuteFigures): TileFigures {
  const period = `the last ${rangeTitles[range]}`;
  const { stepSeconds } = series;
  const [requests, failed, p99] = [known(series.requestsPerSecond), known(series.failedPerSecond), known(series.p99Ms)];
  const total = sum(requests);
  const hasHistory = requests.length > 0;
  return {
    requests: hasHistory
      ? { value: total / requests.length, note: `Mean of ${recordedPart(requests.length * stepSeconds, range)}${period}`, values: requests }
      : { value: minute.requestsPerSecond, note: "Mean of the last minute", values: [] },
    failing: hasHistory
      ? { value: total === 0 ? 0 : sum(failed) / total, note: `Of the requests of ${period}`, values: known(series.failedShare) }
      : { value: minute.failureShare, note: "Of the requests of the last minute", values: [] },
    latency:
      p99.length > 0
        ? { value: Math.max(...p99), note: `Highest ${intervalText(stepSeconds)} p99 of ${period}`, values: p99 }
        : { value: minute.p99Ms, note: "Slowest app of the last minute", values: [] },
  };
}

/** Returns a current value as a figure. The sparkline ends with the same value. */
export function currentFigure(value: number, past: readonly (number | null)[], range: HistoryRange): TileFigure<number> {
  const values = known(past);
  return values.length === 0
    ? { value, note: "Now", values: [] }
    : { value, note: `Now, and over the last ${rangeTitles[range]}`, values: [...values, value] };
}

/** Returns the counts since the start of the daemon, such as `Since the start of the daemon, 14:02: 5 requests, 0 failed`. */
export function sinceStartText({ startedAt, requests, failed }: { startedAt: number; requests: number; failed: number }): string {
  const counts = `${requests.toLocaleString("en-GB")} requests, ${failed.toLocaleString("en-GB")} failed`;
  return `Since the start of the daemon, ${startText(startedAt, Date.now())}: ${counts}`;
}

/** Returns nothing if the history covers the whole range, and otherwise its length, such as `the recorded 2 min of `. */
function recordedPart(seconds: number, range: HistoryRange): string {
  const recorded = lengthText(seconds);
  return recorded === rangeTitles[range] ? "" : `the recorded ${recorded} of `;
}

/** Formats seconds in the units of `rangeTitles`, rounded, so that a history without one of its intervals still covers the range. */
function lengthText(seconds: number): string {
  const [minutes, hours] = [Math.round(seconds / 60), Math.round(seconds / 3600)];
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 120 && minutes !== 60) return `${minutes} min`;
  return hours < 48 ? `${hours} h` : `${Math.round(seconds / 86_400)} d`;
}

function intervalText(stepSeconds: number): string {
  return stepSeconds < 60 ? `${stepSeconds}-second` : `${stepSeconds / 60}-minute`;
}

/** Returns the values of a history without its gaps, because a sparkline cannot show gaps. */
function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
