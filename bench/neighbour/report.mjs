import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";
import { each, milliseconds } from "../support/rows.mjs";
import { median } from "../support/rounds.mjs";

const columns = ["Fault", "Ours: before", "amid", "Ratio", "Plain processes: before", "amid", "Ratio"];

/** A line for each fault of ours; figures are medians of the rounds, ratios are taken within each. */
export function neighbourReport({ rounds, figures }) {
  const lines = Object.keys(figures.ours[0].amidMs).map((fault) => [
    fault,
    ...cellsOf(figures.ours, fault),
    ...cellsOf(figures.theirs, fault),
  ]);
  return [
    "# What a neighbour feels of a fault",
    "",
    `Made by \`npm run neighbour -- ${rounds}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}.`,
    "",
    "The p99 of a neighbour that is asked 500 times a second: in the quiet before each fault, and while the fault happens once a second and the bad app is asked again after it. On the left the daemon and its worker; on the right `node:http` and a process for each bad app, started again when it ends, killed when it does not answer within the same time; replaced by hand, with tar and a new process.",
    "",
    markdownTable(columns, lines),
    "",
  ].join("\n");
}

function cellsOf(rounds, fault) {
  if (!(fault in rounds[0].amidMs)) return ["–", "–", "–"];
  const before = each(rounds, "beforeMs");
  const amid = rounds.map(({ amidMs }) => amidMs[fault]);
  const ratio = median(amid.map((value, round) => value / before[round]));
  return [milliseconds(median(before)), milliseconds(median(amid)), `${ratio.toFixed(1)} ×`];
}
