import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";
import { each, milliseconds } from "../support/rows.mjs";
import { median } from "../support/rounds.mjs";

const columns = ["Fault", "Ours: before", "amid", "Ratio", "Plain processes: before", "amid", "Ratio"];
const atMost = 2;

/**
 * Returns one table for a busy and one for an idle machine. Each has one line per fault with the medians of the rounds. The ratios are
 * computed within each round.
 */
export function neighbourReport({ rounds, figures: { busy, idle } }) {
  const perSecond = Math.round(median(each(busy.ours, "othersPerSecond")));
  return [
    "# What a neighbour feels of a fault",
    "",
    `Made by \`npm run neighbour -- ${rounds}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}.`,
    "",
    "The p99 of a neighbour that is asked 500 times a second: before each fault, and while the fault happens once a second and the bad app is asked again after it. On the left the daemon and its worker; on the right `node:http` and a process for each bad app, started again when it ends, killed when it does not answer within the same time; replaced by hand, with tar and a new process.",
    "",
    `## While other workers are under load: ${perSecond.toLocaleString("en-US")} requests a second, none of which failed`,
    "",
    ...tableOf(busy),
    "",
    "## While nothing else happens on the machine",
    "",
    ...tableOf(idle),
    "",
  ].join("\n");
}

function tableOf({ ours, theirs }) {
  const faults = Object.keys(ours[0].amidMs);
  const lines = faults.map((fault) => [fault, ...cellsOf(ours, fault), ...cellsOf(theirs, fault)]);
  const within = (rounds) => faults.filter((fault) => ratioOf(rounds, fault) <= atMost).length;
  return [
    `At most doubled beside ${within(ours)} of ${faults.length} faults here, beside ${within(theirs)} with plain processes.`,
    "",
    markdownTable(columns, lines),
  ];
}

function cellsOf(rounds, fault) {
  const before = median(each(rounds, "beforeMs"));
  const amid = median(rounds.map(({ amidMs }) => amidMs[fault]));
  return [milliseconds(before), milliseconds(amid), `${ratioOf(rounds, fault).toFixed(2)} ×`];
}

function ratioOf(rounds, fault) {
  return median(rounds.map(({ amidMs, beforeMs }) => amidMs[fault] / beforeMs));
}
