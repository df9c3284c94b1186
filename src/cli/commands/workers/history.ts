import {
  history,
  historyRanges,
  type HistoryMarker,
  type HistoryRange,
  type MetricsHistory,
} from "../../../shared/contract/metrics-history.js";
import { isPackageName } from "../../../shared/package-name.js";
import { defineCommand } from "../../command/command.js";
import { usageError } from "../../command/command-error.js";
import { connect } from "../../client/connection.js";
import { instanceOption, warnOfMissing } from "../../command/instance-option.js";
import { toMegabytes, toMilliseconds, toMinute } from "../../output/format.js";
import { sparkline } from "../../output/sparkline.js";

const headings = ["FROM", "REQUESTS", "ERRORS", "P50", "P99", "MEMORY", "ISOLATES", "CHANGES"];
/** Number of seconds that one row of the table covers, for each period: 5 minutes, 1 hour and 1 day per row. */
const rowSeconds: Readonly<Record<HistoryRange, number>> = { "1h": 300, "24h": 3600, "14d": 86_400 };
const ranges = Object.keys(historyRanges) as HistoryRange[];
const widestSparkline = 72;
const sparklineLabel = "requests ";

interface Flags {
  readonly range?: HistoryRange;
  readonly instance?: string;
}

/** The data of one row of the table: the indexes of its points in the metrics history, and its deployments and restarts. */
interface Group {
  readonly indexes: number[];
  readonly markers: HistoryMarker[];
}

export const command = defineCommand<[name: string | undefined], Flags>({
  arguments: [{ syntax: "[name]", description: "Only this worker (default: whole daemons)" }],
  options: [{ flags: "--range <range>", description: "Period: 1h, 24h or 14d (default 24h)", choices: ranges }, instanceOption],
  fields: ["stepSeconds", "points", "markers", "instances"],
  examples: [
    ["runtimectl workers history @team/shop", "show requests, errors, latency and deployments of the last 24 hours"],
    ["runtimectl workers history --range 14d", "show the whole daemon, one row per day"],
    ["runtimectl workers history @team/shop --range 1h --json | jq '.points.failed | add'", "count the failed requests of an hour"],
  ],
  notes: `A row covers 5 minutes, 1 hour or 1 day. P50 is the median of its intervals, P99, MEMORY and ISOLATES are the maximum.
--json returns every interval: 10 s (1 h of the daemon), 60 s or 15 minutes.
Rows are missing for times at which the daemon did not run.
With several daemons, the numbers are sums, P50 and P99 are those of the slowest daemon, and INCOMPLETE rows lack the values of a daemon.`,
  async run(context, [name], { range = "24h", instance }) {
    if (name !== undefined && !isPackageName(name))
      throw usageError(`${JSON.stringify(name)} is not a valid worker name`, "use a name such as hello or @team/app");
    const { client } = await connect(context, { metrics: { history } });
    const found = await client.metrics.history({ query: { worker: name, range, instance } });
    const { incomplete } = found.points;
    const { isAligned } = context.output;
    // Inserts the column about incomplete rows. In a pipe, this column is the last one, so that the positions of the other columns stay the
    // same for scripts.
    const withIncomplete = (columns: readonly string[], cell: string): string[] =>
      isAligned ? [...columns.slice(0, -1), cell, ...columns.slice(-1)] : [...columns, cell];
    const rows = [...groupsOf(found, rowSeconds[range])].map(([from, group]) => {
      const row = toRow(found, from, group);
      return incomplete ? withIncomplete(row, group.indexes.some((index) => incomplete[index]) ? "yes" : "") : row;
    });
    context.output.table(found, incomplete ? withIncomplete(headings, "INCOMPLETE") : headings, rows);
    warnOfMissing(context.output, "values", found.instances);
    const { requests, at } = found.points;
    const width = Math.min(context.output.layout.widthColumns, widestSparkline) - sparklineLabel.length;
    context.output.footer(
      at.length === 0 ? "no history: the first point appears within a minute" : sparklineLabel + sparkline(requests, width),
    );
  },
});

/** Returns the groups, oldest first. The map key of a group is the Unix time in seconds at which the group starts. */
function groupsOf({ points, markers, stepSeconds }: MetricsHistory, seconds: number): Map<number, Group> {
  const groups = new Map<number, Group>();
  const groupAt = (time: number): Group => {
    const from = Math.floor(time / seconds) * seconds;
    const group = groups.get(from) ?? { indexes: [], markers: [] };
    groups.set(from, group);
    return group;
  };
  for (const [index, at] of points.at.entries()) groupAt(at - stepSeconds).indexes.push(index);
  for (const marker of markers) groupAt(marker.at).markers.push(marker);
  return new Map([...groups].toSorted(([one], [other]) => one - other));
}

function toRow({ points }: MetricsHistory, from: number, { indexes, markers }: Group): string[] {
  const valuesOf = (values: readonly (number | null)[]): number[] => indexes.flatMap((index) => values[index] ?? []);
  const sum = (values: readonly number[]): string => String(valuesOf(values).reduce((total, value) => total + value, 0));
  const maximum = (values: readonly (number | null)[]): number => Math.max(0, ...valuesOf(values));
  const medians = valuesOf(points.p50Ms).toSorted((one, other) => one - other);
  const hasRequests = medians.length > 0;
  return [
    toMinute(from),
    sum(points.requests),
    sum(points.failed),
    toMilliseconds(medians[Math.floor(medians.length / 2)] ?? null),
    toMilliseconds(hasRequests ? maximum(points.p99Ms) : null),
    toMegabytes(maximum(points.memoryBytes)),
    String(maximum(points.isolates)),
    markers.map(describe).join(", "),
  ];
}

function describe({ type, worker, version, by, instance }: HistoryMarker): string {
  const subject = type === "start" ? (instance ?? "") : [worker, version].filter((part) => part !== undefined).join("@");
  return [type, subject, by === undefined ? "" : `by ${by}`].filter((part) => part !== "").join(" ");
}
