import { restart } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { exitCodes } from "../../command/exit-codes.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { printNotified } from "../instances/print-notified.js";

type Restarting = Connection<{ workers: { list: typeof list; restart: typeof restart } }>;

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name[@version]>", description: "The worker with all enabled versions, or one version" }],
  fields: ["name", "versions"],
  examples: [
    ["runtimectl workers restart @team/app", "replace the isolates of every enabled version"],
    ["runtimectl workers restart @team/app@1.2.0", "replace the isolates of one version"],
  ],
  notes:
    "No request is lost: running isolates finish their requests, and new isolates serve the next requests. A worker in backoff is started immediately.",
  async run(context, [reference]) {
    const { name, version } = parsePackageReference(reference);
    const connection = await connect(context, { workers: { list, restart } });
    const versions = version === undefined ? await versionsThatAreOn(connection, name) : [version];
    const restarted = [];
    for (const one of versions) {
      const { data } = await connection.client.workers.restart({ params: { ...toPathSegments(name), version: one } });
      context.output.note(`${data.name}@${data.version} restarted; ${pluralize(data.restarted, "isolate")} replaced`);
      printNotified(context, data.instances);
      restarted.push(data);
    }
    context.output.result({ name, versions: restarted });
  },
});

async function versionsThatAreOn({ client }: Restarting, name: string): Promise<string[]> {
  const rows = (await client.workers.list()).filter((worker) => worker.name === name);
  if (rows.length === 0)
    throw new CommandError("WORKER_NOT_FOUND", `no worker named ${name} is installed`, { exitCode: exitCodes.notFound });
  return rows.flatMap(({ versions, disabledVersions }) => versions.filter((version) => !disabledVersions.includes(version)));
}
