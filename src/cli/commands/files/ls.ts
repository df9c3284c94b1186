import { formatSize } from "../../../shared/size.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { ago, toDateTime } from "../../dates.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";

export const command = defineCommand<[remote: string | undefined], SurfaceOptions>({
  arguments: [{ syntax: "[remote]", description: "A folder on the server, such as workers/@team/app/1.0.0; without it, the directories" }],
  options: [pluginsOption],
  fields: ["name", "path", "isDirectory", "size", "updatedAt", "updatedAtSeconds"],
  examples: [
    ["runtimectl files ls", "the directories that paths begin with"],
    ["runtimectl files ls workers/@team/app/1.0.0", "what is in a version of a worker"],
    ["runtimectl files ls plugins --plugins", "the plugins"],
  ],
  notes: "Links are shown as files and not followed.",
  async run(context, [remote = ""], options) {
    const { client } = await connect(context, { files: { list: chosenFiles(options).list } });
    const { entries, hasMore } = (await client.files.list({ query: { path: remote } })).data;
    const documents = entries.map(({ updatedAt, ...entry }) => ({
      ...entry,
      updatedAt: toDateTime(updatedAt),
      updatedAtSeconds: updatedAt,
    }));
    const size = (bytes: number) => (context.output.isAligned ? formatSize(bytes) : String(bytes));
    const rows = documents.map(({ name, isDirectory, size: bytes, updatedAt, updatedAtSeconds }) => [
      isDirectory ? `${name}/` : name,
      isDirectory ? "" : size(bytes),
      context.output.isAligned ? ago(updatedAtSeconds, Date.now()) : updatedAt,
    ]);
    context.output.table({ entries: documents }, ["NAME", "SIZE", "CHANGED"], rows);
    if (hasMore) context.output.note("there are more entries than are listed");
  },
});
