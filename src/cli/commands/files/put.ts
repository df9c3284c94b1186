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

interface LocalFile {
  readonly file: string;
  /** Below the folder on the server. */
  readonly name: string;
  readonly sizeBytes: number;
}

export const command = defineCommand<[words: readonly string[]], SurfaceOptions>({
  arguments: [{ syntax: "<file...>", description: "Files and folders here, and at last the folder on the server that they go to" }],
  options: [pluginsOption],
  fields: ["path", "files", "sizeBytes"],
  examples: [
    ["runtimectl files put index.html workers/@team/app/1.0.0", "replace a file of a version; it is served at once"],
    ["runtimectl files put style.css img workers/@team/app/1.0.0/assets", "a file, and a folder with all in it"],
    ["runtimectl files put dist/. workers/@team/app/1.0.0", "what is in a folder, without the folder itself"],
  ],
  notes: "Files of the same name are replaced, others stay. Links in folders are left out.",
  async run(context, [words], options) {
    const remote = words.at(-1) as string;
    if (words.length < 2) throw usageError("put takes files and the folder on the server", "runtimectl files put FILE... REMOTE");
    const files: LocalFile[] = [];
    for (const word of words.slice(0, -1)) files.push(...(await collect(context, word)));
    if (files.length === 0) throw usageError("there is no file in what was named");
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
    context.output.result({ path: remote, files: files.map(({ name }) => name), sizeBytes });
  },
});

async function collect({ workingDirectory }: Context, word: string): Promise<LocalFile[]> {
  const file = path.resolve(workingDirectory, word);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${word} cannot be read (${error.code ?? error.message})`);
  });
  // `folder/.` is what is in it.
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
    // No more than was announced, should it grow meanwhile.
    if (sizeBytes === 0) return;
    for await (const piece of createReadStream(file, { end: sizeBytes - 1 }) as AsyncIterable<Buffer>) {
      yield piece;
      onBytes(piece.length);
    }
  }
  return { filename: path.posix.basename(name), sizeBytes, bytes: bytes() };
}
