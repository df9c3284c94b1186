import { existsSync } from "node:fs";
import path from "node:path";
import { formatSize } from "../../../shared/size.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { saveDownload } from "../../output/save-download.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";

export const command = defineCommand<[remote: string, file: string | undefined], SurfaceOptions>({
  arguments: [
    { syntax: "<remote>", description: "A file or folder on the server" },
    { syntax: "[file]", description: "Local file to write, or - for standard output (default: the remote name)" },
  ],
  options: [pluginsOption],
  fields: ["path", "file", "sizeBytes"],
  examples: [
    ["runtimectl files get workers/@team/app/1.0.0/index.js", "download a file to index.js"],
    ["runtimectl files get workers/@team/app/1.0.0/index.js -", "print a file"],
    ["runtimectl files get workers/@team/app/1.0.0 app.zip", "download a folder as a zip that workers upload accepts"],
  ],
  notes: "An existing file is not overwritten. A failed download leaves no file.",
  async run(context, [remote, file], options) {
    const { list, download } = chosenFiles(options);
    const { client } = await connect(context, { files: { list, download } });
    const get = () => client.files.download({ query: { path: remote } }, context.signal);
    if (file === "-") {
      for await (const piece of await get()) context.output.raw(piece);
      return;
    }
    const trimmed = remote.replace(/\/+$/, "");
    const parent = await client.files.list({ query: { path: path.posix.dirname(`/${trimmed}`).slice(1) } });
    const name = path.posix.basename(trimmed);
    const isFolder = parent.data.entries.find((entry) => entry.name === name)?.isDirectory ?? false;
    const target = path.resolve(context.workingDirectory, file ?? localName(name, isFolder));
    if (existsSync(target)) throw usageError(`${target} already exists`, "use another name, or - for standard output");
    const sizeBytes = await saveDownload(await get(), target, context);
    context.output.note(`${formatSize(sizeBytes)} written`);
    context.output.result({ path: remote, file: target, sizeBytes }, target);
  },
});

/**
 * Returns a safe local file name for a file name from the server. A folder gets the extension of a zip file, because the daemon sends
 * folders as zip files.
 */
function localName(name: string, isFolder: boolean): string {
  const plain = path.basename(name.replaceAll("\\", "_"));
  if (plain === "" || plain === "." || plain === "..")
    throw usageError(
      "the local file has no name, because the remote path does not end in a file name",
      "add the name of the local file as second argument",
    );
  return isFolder ? `${plain}.zip` : plain;
}
