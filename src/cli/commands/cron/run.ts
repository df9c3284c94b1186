import { run } from "../../../shared/contract/cron.js";
import { isPackageName, toPathSegments } from "../../../shared/package-name.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { toMilliseconds } from "../../output/format.js";

export const command = defineCommand<[name: string, index: string]>({
  arguments: [
    { syntax: "<name>", description: "The worker, such as @team/shop" },
    { syntax: "<index>", description: "Number of the job in runtimectl cron list" },
  ],
  fields: ["worker", "index", "at", "durationMs", "status", "outcome", "error", "trigger", "by", "version"],
  examples: [
    ["runtimectl cron run @team/shop 0", "run the first job of the worker"],
    ["runtimectl cron run @team/shop 0 --json | jq -r .status", "print the status of the response"],
  ],
  notes:
    "Waits until the run has ended. Exits with 1 if the run failed, and with 7 if the job is already running.\n" +
    "The worker receives the same request as from the schedule. If --timeout passes, the run continues: see runtimectl cron list.",
  async run(context, [worker, index]) {
    if (!isPackageName(worker)) throw usageError(`${JSON.stringify(worker)} is not the name of a worker`, "use a name such as @team/shop");
    if (!/^\d{1,6}$/.test(index))
      throw usageError(`${JSON.stringify(index)} is not the number of a cron job`, `runtimectl cron list ${worker}`);
    const { client } = await connect(context, { cron: { run } });
    const { data } = await client.cron.run({ params: { ...toPathSegments(worker), index: String(Number(index)) } });
    const { outcome, status, durationMs, error } = data;
    context.output.note(`${worker} cron job ${index}: ${outcome}, status ${status ?? "-"}, ${toMilliseconds(durationMs)}`);
    if (error !== undefined) context.output.note(error);
    context.output.result({ worker, index: Number(index), ...data });
    return outcome === "ok" ? exitCodes.ok : exitCodes.failed;
  },
});
