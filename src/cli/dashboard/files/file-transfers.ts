import { createReadStream } from "node:fs";
import { open, rm, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { pluralize } from "../../output/format.js";
import { pluginFiles, workerFiles, mostPaths } from "../../../shared/contract/files.js";
import { usageError } from "../../command/command-error.js";
import { filesOf, type FileItem, type FolderLocation } from "./file-location.js";
import type { Transfer } from "../components/overlays.js";
import type { Session } from "../session/session.js";

/** Maximum size of a file that the dashboard shows. A larger file is easier to read in an editor. */
const longestViewBytes = 256 * 1024;

/** Returns a transfer that uploads local files to a folder on the server. */
export function uploadTransfer(
  { context, connect }: Session,
  { kind, path: folder }: FolderLocation,
  files: readonly LocalFile[],
): Transfer {
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    label: `uploading ${pluralize(files.length, "file")}`,
    totalBytes,
    cancelled: (bytes) => (bytes < totalBytes ? "cancelled; nothing was written" : "no longer waiting; check the list for the result"),
    run: async (onBytes, signal) => {
      const own = { ...context, signal: AbortSignal.any([context.signal, signal]) };
      const { client } = await connect(own, { workerFiles, pluginFiles });
      await (kind === "workers" ? client.workerFiles : client.pluginFiles).upload({
        fields: { path: folder, paths: files.map(({ name }) => name) },
        files: files.map(({ file, name, sizeBytes }) => ({ filename: path.basename(name), sizeBytes, bytes: counting(file, onBytes) })),
      });
      return `${pluralize(files.length, "file")} uploaded to ${folder}`;
    },
  };
}

/** Returns a transfer that downloads a file to a new local file. The daemon sends a folder as a zip file. */
export function downloadTransfer(session: Session, { kind, entry }: FileItem, target: string): Transfer {
  return {
    label: `saving ${entry.name}`,
    ...(entry.isDirectory ? {} : { totalBytes: entry.size }),
    cancelled: () => "cancelled; nothing was saved",
    run: async (onBytes, signal) => {
      const pieces = await filesOf(await session.client(), kind).download({ query: { path: entry.path } }, signal);
      await saveNew(path.resolve(session.context.workingDirectory, target), pieces, onBytes).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "EEXIST" ? usageError(`${target} already exists`, "choose another name") : error;
      });
      return `${entry.path} saved as ${target}`;
    },
  };
}

/** Returns the lines of a text file. Throws a usage error for a binary file, and for a file larger than `longestViewBytes`. */
export async function readText(session: Session, { kind, entry }: FileItem): Promise<readonly string[]> {
  const instead = "save the file to view it";
  if (entry.size > longestViewBytes) throw usageError(`${entry.name} is too large to be shown`, instead);
  const end = new AbortController();
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of await filesOf(await session.client(), kind).download({ query: { path: entry.path } }, end.signal)) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > longestViewBytes) throw usageError(`${entry.name} is too large to be shown`, instead);
  }
  const bytes = Buffer.concat(pieces);
  if (bytes.includes(0)) throw usageError(`${entry.name} is not a text file`, instead);
  const lines = bytes
    .toString("utf8")
    .replace(/\r?\n$/, "")
    .split(/\r?\n/);
  return lines.map((line) => line.replaceAll("\t", "  "));
}

async function* counting(file: string, onBytes: (count: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield chunk;
    onBytes(chunk.length);
  }
}

/** Writes a download to a new file. Never overwrites an existing file. Deletes the incomplete file after an error. */
async function saveNew(target: string, pieces: AsyncIterable<Uint8Array>, onBytes: (count: number) => void): Promise<void> {
  const handle = await open(target, "wx");
  try {
    for await (const piece of pieces) {
      await handle.writeFile(piece);
      onBytes(piece.length);
    }
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(target, { force: true });
    throw error;
  }
}

/** A local file to upload, and the path that it gets below the target folder on the server. */
interface LocalFile {
  readonly file: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * Returns the local file at a path. For a folder, returns all files in the folder, and their paths start with the folder's name. Skips
 * symbolic links.
 */
export async function localFiles(source: string): Promise<readonly LocalFile[]> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw usageError(`${source} does not exist`);
  const name = path.basename(source);
  if (!found.isDirectory()) return [{ file: source, name, sizeBytes: found.size }];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  if (files.length === 0) throw usageError(`${source} contains no files`);
  if (files.length > mostPaths)
    throw usageError(
      `${source} contains ${pluralize(files.length, "file")}; at most ${mostPaths} can be uploaded at once`,
      "upload the folder as a package",
    );
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { file, name: [name, ...path.relative(source, file).split(path.sep)].join("/"), sizeBytes: (await stat(file)).size };
    }),
  );
}
