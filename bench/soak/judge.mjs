import { median } from "../support/rounds.mjs";
import { slopePerMinute } from "../support/slope.mjs";
import { figures } from "./figures.mjs";

/** Length of the window from which a value is read. */
const windowMs = 30_000;

/**
 * Returns one line per value: before the faults, after the first minutes with faults, at their end, after all faults, and the slope per
 * minute.
 */
export function judge(samples, { troubleFromMs, troubleToMs }) {
  const warmMs = troubleFromMs + Math.min(120_000, (troubleToMs - troubleFromMs) / 5);
  const span = Math.min(windowMs, (troubleToMs - troubleFromMs) / 5);
  const windows = {
    before: within(samples, 0, troubleFromMs),
    early: within(samples, warmMs, warmMs + span),
    late: within(samples, troubleToMs - span, troubleToMs),
    // Uses the last three samples, because isolates without requests need time to stop.
    after: samples.slice(-3),
  };
  return figures.map((figure) => {
    const read = (window) => (figure.least ? Math.min(...valuesOf(window, figure)) : median(valuesOf(window, figure)));
    const values = Object.fromEntries(Object.entries(windows).map(([title, window]) => [title, read(window)]));
    const steady = within(samples, warmMs, troubleToMs);
    return { ...figure, ...values, slope: slopePerMinute(steady, figure.field), problems: problemsOf(figure, values) };
  });
}

function problemsOf({ title, growth, left }, { before, early, late, after }) {
  const problems = [];
  if (growth !== undefined && late - early > growth)
    problems.push(`${title}: grew by ${(late - early).toFixed(1)} under trouble, ${growth} are allowed`);
  if (left !== undefined && after - before > left)
    problems.push(`${title}: ${(after - before).toFixed(1)} more are left than there were, ${left} are allowed`);
  return problems;
}

function within(samples, fromMs, toMs) {
  return samples.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs);
}

function valuesOf(samples, { field }) {
  const values = samples.map((sample) => sample[field]);
  return values.length === 0 ? [Number.NaN] : values;
}
