import { health } from "../../../shared/contract/worker-health.js";
import { show, type ShownMetrics, type WorkerMetrics } from "../../../shared/contract/metrics.js";
import { list } from "../../../shared/contract/workers.js";
import { isPackageName } from "../../../shared/package-name.js";
import { defineCommand } from "../../command/command.js";
import { usageError } from "../../command/command-error.js";
import { instanceOption, warnOfMissing } from "../../command/instance-option.js";
import { connect } from "../../client/connection.js";
import { findHealth } from "./find-health.js";
import { findWorker } from "./installed-worker.js";
import { toMegabytes, toMilliseconds, toRate } from "../../output/format.js";
import { alignedTable } from "../../output/table.js";

const headings = ["REQ/S (1M)", "P50 (1M)", "P99 (1M)", "REQUESTS", "ERRORS", "ISOLATES", "MEMORY"];
const instanceHeadings = ["INSTANCE", "REQ/S (1M)", "IN FLIGHT", "REQUESTS", "ERRORS", "ISOLATES", "MEMORY", "DAEMON MEMORY"];

export const command = defineCommand<[name: string | undefined], { instance?: string }>({
  arguments: [{ syntax: "[name]", description: "Only this worker" }],
  options: [instanceOption],
  fields: ["daemon", "totals", "workers", "plugins", "instances", "health"],
  examples: [
    ["runtimectl workers stats", "show request rates, latency, errors, isolates and memory of each version"],
    ["runtimectl workers stats @team/shop", "show one worker"],
    ["runtimectl workers stats --json | jq '.workers[] | select(.requests.failed > 0) | .name'", "list workers with failed requests"],
  ],
  notes: `Rates and times cover about the last minute; counts start with the daemon. Errors are incomplete responses and statuses of 500 or more,
including the worker's own. A version is listed after its first request.
STATE is the health of the active version; in a pipe it is the last column.
A row without a version counts requests to a worker without an active version.
With several daemons, counts, rates and memory are sums, and P50 and P99 are the highest of a daemon. A terminal shows a table of the daemons.`,
  async run(context, [name], { instance }) {
    if (name !== undefined && !isPackageName(name))
      throw usageError(`${JSON.stringify(name)} is not a valid worker name`, "use a name such as hello or @team/app");
    const connection = await connect(context, { metrics: { show }, workers: { health, list } });
    const [metrics, healths] = await Promise.all([
      connection.client.metrics.show({ query: { worker: name, instance } }),
      findHealth(connection, { worker: name, instance }),
    ]);
    if (name !== undefined && metrics.workers.length === 0) await findWorker(connection, name);
    const stateOf = (worker: WorkerMetrics): string => {
      const found = healths?.get(worker.name);
      return found !== undefined && found.version === worker.version ? found.state : "-";
    };
    const { output } = context;
    const { isAligned } = output;
    // In a pipe, the state is the last column. The position of all other columns thus stays the same for scripts.
    const withState = (names: readonly string[], state: string, numbers: readonly string[]) =>
      isAligned ? [...names, state, ...numbers] : [...names, ...numbers, state];
    const document = { ...metrics, ...(healths && { health: [...healths.values()] }) };
    const columns = withState(["NAME", "VERSION"], "STATE", headings);
    const rows = metrics.workers.map((worker) => withState([worker.name, worker.version ?? "-"], stateOf(worker), toNumbers(worker)));
    const { instances } = metrics;
    if (isAligned && instances) {
      const tables = [alignedTable(instanceHeadings, instances.map(toInstanceRow), output.layout)];
      if (rows.length > 0) tables.push(alignedTable(columns, rows, output.layout));
      output.laidOut(document, tables.join("\n\n"));
    } else output.table(document, columns, rows);
    warnOfMissing(output, "metrics", instances);
    const { requests, isolates } = metrics.totals;
    output.footer(
      metrics.workers.length === 0
        ? "no requests since the daemon started"
        : `${toRate(requests.perSecond)} requests/s · ${requests.inFlight} in flight · ${isolates.running} isolates`,
    );
  },
});

/** Returns the totals of one daemon. The memory of the daemon itself is unknown to a key that is restricted to namespaces. */
function toInstanceRow({ name, totals, daemon }: NonNullable<ShownMetrics["instances"]>[number]): string[] {
  if (!totals) return [name, ...instanceHeadings.slice(1).map(() => "-")];
  const { requests, isolates, memory } = totals;
  return [
    name,
    toRate(requests.perSecond),
    String(requests.inFlight),
    String(requests.total),
    String(requests.failed),
    String(isolates.running),
    toMegabytes(memory.pssBytes ?? memory.rssBytes),
    toMegabytes(daemon?.process?.rssBytes ?? 0),
  ];
}

function toNumbers({ requests, latency, isolates, memory }: WorkerMetrics): string[] {
  return [
    toRate(requests.perSecond),
    toMilliseconds(latency.recent.p50Ms),
    toMilliseconds(latency.recent.p99Ms),
    String(requests.total),
    String(requests.failed),
    String(isolates.running),
    toMegabytes(memory.pssBytes ?? memory.rssBytes),
  ];
}
