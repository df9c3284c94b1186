import { runBatch } from "../../command/run-batch.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { confirmDestruction } from "../../output/prompts.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";
import { reportChanged } from "./report-changed.js";

export const command = defineCommand<[remotes: readonly string[]], SurfaceOptions>({
  arguments: [{ syntax: "<remote...>", description: "Files and folders on the server" }],
  options: [pluginsOption],
  fields: ["path", "deleted", "error"],
  examples: [
    ["runtimectl files rm workers/@team/app/1.0.0/old.html", "delete a file, after you type its path"],
    ["runtimectl files rm workers/@team/app/1.0.0/old --yes", "delete a folder with its content, without confirmation"],
    ["runtimectl files rm workers/@team/app/1.0.0/old --confirm prod", "the same on the production profile prod"],
  ],
  notes: "Cannot be undone. If some deletions fail, the others still happen, and the exit code is 9.",
  async run(context, [remotes], options) {
    const items = [...new Set(remotes)].map((path) => ({ path, label: path, fields: { path } }));
    const { client, settings } = await connect(context, { files: { remove: chosenFiles(options).remove } });
    await confirmDestruction(context, {
      consequence: `Delete ${items.map(({ path }) => path).join(", ")}`,
      name: items.length === 1 ? (items[0]?.path ?? "") : pluralize(items.length, "item"),
      settings,
    });
    const deleted: string[] = [];
    const act = async ({ path }: { readonly path: string }) => {
      await client.files.remove({ body: { path } });
      deleted.push(path);
    };
    try {
      await runBatch(context, { items, noun: "files", done: "deleted", act });
    } finally {
      await reportChanged(context, deleted, options);
    }
  },
});
