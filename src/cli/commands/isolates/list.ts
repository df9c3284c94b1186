import { list } from "../../../shared/contract/isolates.js";
import { list as listWorkers } from "../../../shared/contract/workers.js";
import { isPackageName } from "../../../shared/package-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { ago, pluralize, toMegabytes } from "../../output/format.js";
import { findWorker } from "../workers/installed-worker.js";

const headings = ["PID", "WORKER", "VERSION", "STATE", "STARTED", "REQUESTS", "IN FLIGHT", "MEMORY", "CPU", "SOCKETS"];

export const command = defineCommand<[name: string | undefined]>({
  arguments: [{ syntax: "[name]", description: "Only isolates of this worker" }],
  fields: ["pid", "worker", "version", "state", "startedAt", "requests", "inFlight", "rssBytes", "pssBytes", "cpuSeconds", "sockets"],
  examples: [
    ["runtimectl isolates list", "the processes of all workers that the key can see"],
    ["runtimectl isolates list --json | jq '.isolates | max_by(.pssBytes)'", "the isolate with the most memory"],
  ],
  notes: "An isolate is the process of a worker version. It starts with the first request. MEMORY counts shared memory in part (PSS).",
  async run(context, [worker]) {
    if (worker !== undefined && !isPackageName(worker))
      throw usageError(`${JSON.stringify(worker)} is not the name of a worker`, "use a name such as @team/shop");
    const connection = await connect(context, { isolates: { list }, workers: { list: listWorkers } });
    const isolates = await connection.client.isolates.list({ query: { worker } });
    if (worker !== undefined && isolates.length === 0) await findWorker(connection, worker);
    const rows = isolates.map((isolate) => [
      String(isolate.pid),
      isolate.worker,
      isolate.version,
      isolate.state,
      ago(isolate.startedAt, Date.now()),
      String(isolate.requests),
      String(isolate.inFlight),
      toMegabytes(isolate.pssBytes ?? isolate.rssBytes),
      `${isolate.cpuSeconds.toFixed(2)} s`,
      String(isolate.sockets),
    ]);
    context.output.table({ isolates }, headings, rows);
    context.output.footer(isolates.length === 0 ? "no isolates; a request starts one" : pluralize(isolates.length, "isolate"));
  },
});
