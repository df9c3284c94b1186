import { stop } from "../../../shared/contract/isolates.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";

export const command = defineCommand<[pid: string]>({
  arguments: [{ syntax: "<pid>", description: "Process id of the isolate in runtimectl isolates list" }],
  fields: ["pid", "worker", "version", "state"],
  examples: [["runtimectl isolates stop 4711", "stop one process of a worker"]],
  notes:
    "No request is lost: the isolate completes its requests and ends, and the next request starts a new isolate. Its WebSockets are closed.",
  async run(context, [pid]) {
    if (!/^[1-9]\d{0,9}$/.test(pid)) throw usageError(`${JSON.stringify(pid)} is not a process id`, "runtimectl isolates list");
    const { client } = await connect(context, { isolates: { stop } });
    const { data } = await client.isolates.stop({ params: { pid } });
    context.output.note(`isolate ${pid} of ${data.worker}@${data.version} completes its requests and ends`);
    context.output.result(data);
  },
});
