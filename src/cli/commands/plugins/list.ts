import { list } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { pluginFields } from "./show.js";

export const command = defineCommand<[]>({
  fields: pluginFields,
  examples: [
    ["runtimectl plugins list", "list name, version, state, source and load error"],
    ["runtimectl plugins list --json | jq '.plugins[] | select(.status == \"failed\")'", "list the plugins that failed to load"],
  ],
  notes: "States: loaded, disabled, failed, and waiting (changed on disk; to load the change: runtimectl plugins reload).",
  async run(context) {
    const { client, settings } = await connect(context, { plugins: { list } });
    const plugins = await client.plugins.list();
    const rows = plugins.map(({ name, version, status, source, error = "" }) => [name, version, status, source, error]);
    context.output.table({ plugins }, ["NAME", "VERSION", "STATE", "SOURCE", "ERROR"], rows);
    const where = settings.profile ? ` · profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
    context.output.footer(
      rows.length === 0 ? "no plugins; to upload a folder: runtimectl plugins upload ./dir" : `${pluralize(rows.length, "plugin")}${where}`,
    );
  },
});
