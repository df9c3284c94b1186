import { median, medianRatio } from "./rounds.mjs";

/**
 * A row of the table: `{ work, against, ours, theirs, ratio, target, note }`. `ours` and `theirs` are texts; `target` is
 * `{ atLeast | atMost, aim?, value? , unit? }`, about the ratio unless it brings a value of its own.
 */

/** Requests per second of one side beside another's; with `p99AtMost` a second row for the slowest hundredth. */
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

/** A row for times: `ours` and `theirs` are lists of milliseconds, a round each. */
export function durationRow(row, ours, theirs) {
  return { ...row, ours: milliseconds(median(ours)), theirs: milliseconds(median(theirs)), ratio: medianRatio(ours, theirs) };
}

/** A row for a figure that has a limit of its own and no peer. */
export function limitRow({ work, value, atMost, unit, note }) {
  return { work, against: "–", ours: `${value.toFixed(value < 1 ? 2 : 1)} ${unit}`, theirs: "–", target: { atMost, value, unit }, note };
}

export function unavailableRow(work, against, reason) {
  return { work, against, ours: "not available", theirs: "–", note: reason };
}

/** One field of all rounds. */
export function each(figures, field) {
  return figures.map((figure) => figure[field]);
}

function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** As people read it. */
export function milliseconds(value) {
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
}
