import { reload } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { exitCodes } from "../../command/exit-codes.js";
import { printNotified } from "../instances/print-notified.js";
import { reportLoadFailure } from "./plugin-state.js";

export const command = defineCommand<[]>({
  fields: ["name", "version", "loaded", "error"],
  examples: [
    ["runtimectl plugins reload", "load changes on the server's disk"],
    ["runtimectl plugins reload --json | jq '.plugins[] | select(.error)'", "list the plugins that failed to load"],
  ],
  notes:
    "The daemon loads the new plugins first and then replaces all plugins at once, so every request passes all hooks. Uploads, enable and disable need no reload. Exits with 1 if a plugin failed to load.",
  async run(context) {
    const { client } = await connect(context, { plugins: { reload } });
    const { plugins, instances } = (await client.plugins.reload()).data;
    const rows = plugins.map(({ name, version, loaded, error = "" }) => [name, version, stateOf({ loaded, error }), error]);
    context.output.table({ plugins }, ["NAME", "VERSION", "STATE", "ERROR"], rows);
    const loadedCount = plugins.filter(({ loaded }) => loaded).length;
    context.output.footer(
      rows.length === 0
        ? "no plugins; to upload a folder: runtimectl plugins upload ./dir"
        : `${loadedCount} of ${pluralize(rows.length, "plugin")} loaded`,
    );
    printNotified(context, instances);
    const exitCodesOfPlugins = plugins.map(({ name, loaded, error }) =>
      reportLoadFailure(context, `${name} is enabled`, loaded || error === undefined ? undefined : { status: "failed", error }),
    );
    return exitCodesOfPlugins.some((exitCode) => exitCode !== exitCodes.ok) ? exitCodes.failed : exitCodes.ok;
  },
});

/**
 * Returns the state of a plugin after a reload. `error` is the daemon's error, and is set only if the plugin is enabled and failed to load.
 */
function stateOf({ loaded, error }: { readonly loaded: boolean; readonly error: string }): string {
  if (loaded) return "loaded";
  return error === "" ? "disabled" : "failed";
}
