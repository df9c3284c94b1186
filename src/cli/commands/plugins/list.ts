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
  notes:
    "On a terminal, STATE is ok, degraded, failing or disabled. In a pipe, it is loaded, disabled, failed or waiting, and the last column is the health.\n" +
    "SOURCE is local for a plugin that only the requested daemon has, although daemons share their plugins.\n" +
    "waiting: changed on disk; to load the change: runtimectl plugins reload.",
  async run(context) {
    const { client, settings } = await connect(context, { plugins: { list } });
    const plugins = await client.plugins.list();
    const { isAligned } = context.output;
    const rows = plugins.map(({ name, version, status, source, local = false, error = "", health: { state, reason = "" } }) => {
      const shownSource = local ? "local" : source;
      return isAligned ? [name, version, state, shownSource, reason] : [name, version, status, shownSource, error, state];
    });
    context.output.table({ plugins }, ["NAME", "VERSION", "STATE", "SOURCE", ...(isAligned ? ["REASON"] : ["ERROR", "HEALTH"])], rows);
    const where = settings.profile ? ` · profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
    context.output.footer(
      rows.length === 0 ? "no plugins; to upload a folder: runtimectl plugins upload ./dir" : `${pluralize(rows.length, "plugin")}${where}`,
    );
  },
});
