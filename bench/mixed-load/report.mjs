import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";

const kindTitles = { app: "an app", toggle: "a toggle", plugin: "a plugin", key: "a key, made or revoked" };

/** Returns the results of a run as Markdown. */
export function mixedLoadReport({ minutes, daemonCount, ratePerSecond, outcome, lines, problems }) {
  const { served, acknowledgedChanges, explainedFailures, awayPeriods, seenAfterMs, outcomes } = outcome;
  const verdict =
    problems.length === 0
      ? "No acknowledged change was lost, no 5xx is unexplained, no memory grew beyond its bounds."
      : problems.map((problem) => `- **${problem}**`).join("\n");
  return `# Mixed load

Made by \`npm run mixed-load -- --minutes ${minutes}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}.

${minutes} minutes on ${daemonCount} daemons with directories of their own, which share keys by a libSQL server and a replica each, and workers and plugins by an OCI registry. ${served.requests.toLocaleString("en-US")} requests served (${ratePerSecond} a second were asked), ${served.failures} failed. ${acknowledgedChanges.toLocaleString("en-US")} changes acknowledged; each was looked for at every daemon, and all again at the end and after a restart of all daemons. The primary was away ${awayPeriods.length} times; ${explainedFailures} changes were refused with 503 \`KEY_STORE_UNAVAILABLE\` because of that.

${verdict}

![Figures over time, A blue, B green, C purple; the tinted parts are the times without a primary](mixed-load.svg)

## Memory

The steady time begins after a fifth of the run, at most five minutes. Warm and end: medians of its first and last minute. For memory and heap: the minimum of its first and second half, because garbage above the minimum waits for the collector, and V8 returns resident memory only every 10 to 13 minutes.

${markdownTable(
  ["Figure", "Daemon", "Warm", "End", "Change a minute", "In the last third", "May grow by"],
  lines.map(({ title, name, digits, before, after, slope, lastSlope, growth }) => [
    title,
    name,
    before.toFixed(digits),
    after.toFixed(digits),
    signed(slope),
    signed(lastSlope),
    growth ?? "–",
  ]),
)}

## Until all daemons had a change

From its acknowledgement until every other daemon showed it; changes of keys without those that met a primary that was away.

${markdownTable(
  ["Change", "Times", "Median, ms", "p99, ms", "Longest, ms"],
  Object.entries(seenAfterMs).map(([kind, times]) => {
    const sorted = times.toSorted((left, right) => left - right);
    const at = (share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(0);
    return [kindTitles[kind], times.length, at(0.5), at(0.99), at(1)];
  }),
)}

## What was done

${markdownTable(
  ["What", "How it ended"],
  Object.entries(outcomes)
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([title, counts]) => [
      title,
      Object.entries(counts)
        .map(([ending, times]) => `${ending}: ${times.toLocaleString("en-US")}`)
        .join(", "),
    ]),
)}
`;
}

function signed(slope) {
  return `${slope >= 0 ? "+" : ""}${slope.toFixed(2)}`;
}
