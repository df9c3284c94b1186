import { list } from "../../../shared/contract/workers.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { counted } from "../../counted.js";

export const command = defineCommand<[]>({
  examples: [
    ["runtimectl workers list", "name, version, state, source"],
    ["runtimectl workers list | cut -f1", "names only: in a pipe, columns are separated by tabs"],
    ["runtimectl workers list --json | jq '.workers[].name'", "the same from a document"],
  ],
  async run(context) {
    const { client, settings } = await connect(context, { workers: { list } });
    const workers = (await client.workers.list()).map(({ versions, disabledVersions, ...worker }) => ({
      ...worker,
      versions: versions.map((version) => ({ version, enabled: !disabledVersions.includes(version) })),
    }));
    const rows = workers.flatMap((worker) =>
      worker.versions.map(({ version, enabled }) => [worker.name, version, enabled ? "on" : "off", worker.source]),
    );
    context.output.table({ workers }, ["NAME", "VERSION", "STATE", "SOURCE"], rows);
    const where = settings.profile ? ` · profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
    context.output.footer(
      rows.length === 0
        ? "nothing is installed yet; upload a folder with: runtimectl workers upload ./dir"
        : `${counted(rows.length, "version")} of ${counted(workers.length, "worker")}${where}`,
    );
  },
});
