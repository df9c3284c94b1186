import { reload } from "../../../shared/contract/plugins.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";

export const command = defineCommand<[]>({
  fields: ["name", "version", "loaded", "error"],
  examples: [
    ["runtimectl plugins reload", "after a change on the server's disk"],
    ["runtimectl plugins reload --json | jq '.plugins[] | select(.error)'", "what could not be loaded, and why"],
  ],
  notes: "The new set is built aside and swapped in at once: no request finds a moment without hooks. Uploads and toggles need no reload.",
  async run(context) {
    const { client } = await connect(context, { plugins: { reload } });
    const { plugins } = (await client.plugins.reload()).data;
    const rows = plugins.map(({ name, version, loaded, error = "" }) => [name, version, loaded ? "loaded" : "not loaded", error]);
    context.output.table({ plugins }, ["NAME", "VERSION", "STATE", "ERROR"], rows);
    const loadedCount = plugins.filter(({ loaded }) => loaded).length;
    context.output.footer(
      rows.length === 0
        ? "no plugin is installed yet; upload a folder with: runtimectl plugins upload ./dir"
        : `${loadedCount} of ${pluralize(rows.length, "plugin")} loaded`,
    );
  },
});
