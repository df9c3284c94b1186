import { createReadStream, type Stats } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { UploadSource } from "../../../shared/contract/endpoint.js";
import { mostPaths } from "../../../shared/contract/files.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { withProgress } from "../../output/progress.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";
import { reportChanged } from "./report-changed.js";

interface LocalFile {
  readonly file: string;
  /** Path of the uploaded file, relative to the target folder on the server. */
  readonly name: string;
  readonly sizeBytes: number;
}

export const command = defineCommand<[words: readonly string[]], SurfaceOptions>({
  arguments: [{ syntax: "<file...>", description: "Local files and folders, then the target folder on the server" }],
  options: [pluginsOption],
  fields: ["path", "files", "sizeBytes"],
  examples: [
    ["runtimectl files put index.html workers/@team/app/1.0.0", "replace a file; the daemon serves it immediately"],
    ["runtimectl files put style.css img workers/@team/app/1.0.0/assets", "upload a file and a folder with its content"],
    ["runtimectl files put dist/. workers/@team/app/1.0.0", "upload the content of a folder without the folder itself"],
  ],
  notes:
    "Files with the same name are replaced; other files stay. Then the command requests the version and warns if it is not served. Symbolic links in folders are skipped.",
  async run(context, [words], options) {
    const remote = words.at(-1) as string;
    if (words.length < 2) throw usageError("files put needs at least one file and a target folder", "runtimectl files put FILE... REMOTE");
    const files: LocalFile[] = [];
    for (const word of words.slice(0, -1)) files.push(...(await collect(context, word)));
    if (files.length === 0) throw usageError(`no files to upload in ${words.slice(0, -1).join(", ")}`);
    const { client } = await connect(context, { files: { upload: chosenFiles(options).upload } });
    const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    await withProgress(context, { label: "uploading", totalBytes: sizeBytes }, async (onBytes) => {
      for (let start = 0; start < files.length; start += mostPaths) {
        const batch = files.slice(start, start + mostPaths);
        const fields = { path: remote, paths: batch.map(({ name }) => name) };
        await client.files.upload({ fields, files: batch.map((file) => sourceOf(file, onBytes)) });
      }
    });
    context.output.note(`wrote ${pluralize(files.length, "file")}`);
    await reportChanged(context, [remote], options);
    context.output.result({ path: remote, files: files.map(({ name }) => name), sizeBytes });
  },
});

async function collect({ workingDirectory }: Context, word: string): Promise<LocalFile[]> {
  const file = path.resolve(workingDirectory, word);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${word} cannot be read (${error.code ?? error.message})`);
  });
  // If the argument ends in `folder/.`, uploads the content of the folder without the folder itself.
  const name = path.basename(word) === "." ? "" : path.basename(file);
  return below(file, name, found);
}

async function below(file: string, name: string, found: Stats): Promise<LocalFile[]> {
  if (found.isFile()) return [{ file, name, sizeBytes: found.size }];
  if (!found.isDirectory()) return [];
  const files: LocalFile[] = [];
  for (const entry of (await readdir(file)).toSorted()) {
    const inner = path.join(file, entry);
    files.push(...(await below(inner, name === "" ? entry : `${name}/${entry}`, await lstat(inner))));
  }
  return files;
}

function sourceOf({ file, name, sizeBytes }: LocalFile, onBytes: (count: number) => void): UploadSource {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    // Sends at most the announced number of bytes, because the file can grow during the upload.
    if (sizeBytes === 0) return;
    for await (const piece of createReadStream(file, { end: sizeBytes - 1 }) as AsyncIterable<Buffer>) {
      yield piece;
      onBytes(piece.length);
    }
  }
  return { filename: path.posix.basename(name), sizeBytes, bytes: bytes() };
}
