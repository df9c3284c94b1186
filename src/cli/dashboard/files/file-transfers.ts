import { createReadStream } from "node:fs";
import { open, rm, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { pluralize } from "../../output/format.js";
import { pluginFiles, workerFiles, mostPaths } from "../../../shared/contract/files.js";
import { usageError } from "../../command/command-error.js";
import { filesOf, type FileItem, type FilePlace } from "./file-place.js";
import type { Transfer } from "../components/overlays.js";
import type { Session } from "../session/session.js";

/** What a person can read at once; more is for an editor. */
const longestViewBytes = 256 * 1024;

/** Writes files of this machine into a folder on the server. */
export function uploadTransfer({ context, connect }: Session, { kind, path: folder }: FilePlace, files: readonly LocalFile[]): Transfer {
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    label: `uploading ${pluralize(files.length, "file")}`,
    totalBytes,
    cancelled: (bytes) => (bytes < totalBytes ? "cancelled; nothing was written" : "no longer waiting; the list shows what was written"),
    run: async (onBytes, signal) => {
      const own = { ...context, signal: AbortSignal.any([context.signal, signal]) };
      const { client } = await connect(own, { workerFiles, pluginFiles });
      await (kind === "workers" ? client.workerFiles : client.pluginFiles).upload({
        fields: { path: folder, paths: files.map(({ name }) => name) },
        files: files.map(({ file, name, sizeBytes }) => ({ filename: path.basename(name), sizeBytes, bytes: counting(file, onBytes) })),
      });
      return `${pluralize(files.length, "file")} written into ${folder}`;
    },
  };
}

/** Saves a file, or a folder as a zip, to a new file of this machine, named as a person writes it. */
export function downloadTransfer(session: Session, { kind, entry }: FileItem, target: string): Transfer {
  return {
    label: `saving ${entry.name}`,
    ...(entry.isDirectory ? {} : { totalBytes: entry.size }),
    cancelled: () => "cancelled; nothing was saved",
    run: async (onBytes, signal) => {
      const pieces = await filesOf(await session.client(), kind).download({ query: { path: entry.path } }, signal);
      await saveNew(path.resolve(session.context.workingDirectory, target), pieces, onBytes).catch((error: NodeJS.ErrnoException) => {
        throw error.code === "EEXIST" ? usageError(`${target} is there already`, "choose another name") : error;
      });
      return `${entry.path} is saved as ${target}`;
    },
  };
}

/** The lines of a text file; throws when it is none, or too long to be read here. */
export async function readText(session: Session, { kind, entry }: FileItem): Promise<readonly string[]> {
  const instead = "save it to look at it";
  if (entry.size > longestViewBytes) throw usageError(`${entry.name} is too long to be read here`, instead);
  const end = new AbortController();
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const piece of await filesOf(await session.client(), kind).download({ query: { path: entry.path } }, end.signal)) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes > longestViewBytes) throw usageError(`${entry.name} is too long to be read here`, instead);
  }
  const bytes = Buffer.concat(pieces);
  if (bytes.includes(0)) throw usageError(`${entry.name} is no text`, instead);
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

/** Nothing is written over, and of what breaks off nothing stays. */
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

/** A file of this machine, and the name that it gets below a folder on the server. */
interface LocalFile {
  readonly file: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/** A file, or all files of a folder below the folder's own name. Links are left out. */
export async function localFiles(source: string): Promise<readonly LocalFile[]> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw usageError(`there is no file or folder ${source}`);
  const name = path.basename(source);
  if (!found.isDirectory()) return [{ file: source, name, sizeBytes: found.size }];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  if (files.length === 0) throw usageError(`there is no file in ${source}`);
  if (files.length > mostPaths)
    throw usageError(`${source} has ${pluralize(files.length, "file")}, and ${mostPaths} go at once`, "upload it as a package");
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { file, name: [name, ...path.relative(source, file).split(path.sep)].join("/"), sizeBytes: (await stat(file)).size };
    }),
  );
}
