import { median, medianRatio } from "./rounds.mjs";

/**
 * A row of the table: `{ work, against, ours, theirs, ratio, target, note }`. `ours` and `theirs` are texts. `target` is `{ atLeast |
 * atMost, aim?, value?, unit? }` and concerns the ratio, unless it contains a value.
 */

/** Returns a row with the requests per second of two sides. With `p99AtMost`, also returns a row for the 99th percentile of the latency. */
export function throughputRows({ work, against, target, p99AtMost, note }, ours, theirs) {
  const cell = (figures) => `${count(median(each(figures, "perSecond")))}/s, p99 ${milliseconds(median(each(figures, "p99Ms")))}`;
  const row = { work, against, ours: cell(ours), theirs: cell(theirs), target, note };
  const rows = [{ ...row, ratio: medianRatio(each(ours, "perSecond"), each(theirs, "perSecond")) }];
  if (p99AtMost === undefined) return rows;
  return [
    ...rows,
    {
      work: `${work}: p99`,
      against,
      ours: milliseconds(median(each(ours, "p99Ms"))),
      theirs: milliseconds(median(each(theirs, "p99Ms"))),
      ratio: medianRatio(each(ours, "p99Ms"), each(theirs, "p99Ms")),
      target: { atMost: p99AtMost },
    },
  ];
}

/** Returns a row for times. `ours` and `theirs` are lists of milliseconds with one value per round. */
export function durationRow(row, ours, theirs) {
  return { ...row, ours: milliseconds(median(ours)), theirs: milliseconds(median(theirs)), ratio: medianRatio(ours, theirs) };
}

/** Returns a row for a value that has a limit and no baseline. */
export function limitRow({ work, value, atMost, unit, note }) {
  return { work, against: "–", ours: `${value.toFixed(value < 1 ? 2 : 1)} ${unit}`, theirs: "–", target: { atMost, value, unit }, note };
}

export function unavailableRow(work, against, reason) {
  return { work, against, ours: "not available", theirs: "–", note: reason };
}

/** Returns one field of all rounds. */
export function each(figures, field) {
  return figures.map((figure) => figure[field]);
}

function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** Returns a number of milliseconds as text for the table. */
export function milliseconds(value) {
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
}
