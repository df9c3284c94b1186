import { ApiError } from "../../../shared/api-error.js";
import { formatSize } from "../../../shared/size.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { ago, toDateTime } from "../../output/format.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";

/** Returns the error. Adds a hint to PATH_NOT_FOUND if the path does not start with the name of a directory of the daemon. */
async function withDirectoryHint(
  error: unknown,
  remote: string,
  directories: () => Promise<readonly { readonly name: string }[]>,
): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== "PATH_NOT_FOUND") return error;
  const names = (await directories()).map(({ name }) => name);
  const [directory] = names;
  if (directory === undefined || names.includes(remote.split("/")[0] ?? "")) return error;
  return new CommandError(error.code, error.message, {
    exitCode: exitCodes.notFound,
    hint: `paths start with a directory (${names.join(", ")}): runtimectl files ls ${directory}/${remote}`,
    status: error.status,
    requestId: error.requestId,
  });
}

export const command = defineCommand<[remote: string | undefined], SurfaceOptions>({
  arguments: [
    { syntax: "[remote]", description: "A folder on the server, such as workers/@team/app/1.0.0 (default: list the directories)" },
  ],
  options: [pluginsOption],
  fields: ["name", "path", "isDirectory", "size", "updatedAt", "updatedAtSeconds"],
  examples: [
    ["runtimectl files ls", "list the directories that paths start with"],
    ["runtimectl files ls workers/@team/app/1.0.0", "list a version of a worker"],
    ["runtimectl files ls plugins --plugins", "list the plugins"],
  ],
  notes: "Links are shown as files and not followed.",
  async run(context, [remote = ""], options) {
    const { client } = await connect(context, { files: { list: chosenFiles(options).list } });
    const { entries, hasMore } = await client.files.list({ query: { path: remote } }).then(
      ({ data }) => data,
      async (error: unknown) => {
        throw await withDirectoryHint(error, remote, async () => (await client.files.list({ query: { path: "" } })).data.entries);
      },
    );
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
    if (hasMore) context.output.note("more entries exist than are listed");
  },
});
