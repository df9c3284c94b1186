import { list } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { pluginFields } from "./show.js";

export const command = defineCommand<[]>({
  fields: pluginFields,
  examples: [
    ["runtimectl plugins list", "name, version, state, source, and why one is not loaded"],
    ["runtimectl plugins list --json | jq '.plugins[] | select(.status == \"failed\")'", "those that could not be loaded"],
  ],
  notes: "States: loaded, disabled, failed, and waiting: what lies on the disk is not loaded yet, runtimectl plugins reload loads it.",
  async run(context) {
    const { client, settings } = await connect(context, { plugins: { list } });
    const plugins = await client.plugins.list();
    const rows = plugins.map(({ name, version, status, source, error = "" }) => [name, version, status, source, error]);
    context.output.table({ plugins }, ["NAME", "VERSION", "STATE", "SOURCE", "ERROR"], rows);
    const where = settings.profile ? ` · profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
    context.output.footer(
      rows.length === 0
        ? "no plugin is installed yet; upload a folder with: runtimectl plugins upload ./dir"
        : `${pluralize(rows.length, "plugin")}${where}`,
    );
  },
});
