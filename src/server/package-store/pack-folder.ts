import { createReadStream, createWriteStream } from "node:fs";
import { chmod, link, lstat, mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { packedHeader, tarBlockBytes, tarPaddingBytes } from "../../shared/archive/packed-header.js";
import { unsupportedEntry } from "../../shared/archive/refusal.js";
import { installationFileName } from "../../shared/installation-file-name.js";

/** Maximum size in bytes of a file that the daemon reads as a whole. */
const wholeFileBytes = 256 * 1024;

/**
 * Packs a package folder as a gzipped tar into the new file `target`, without the record of the upload. Equal content gives equal bytes.
 * Throws UNSUPPORTED_ENTRY for a link.
 */
export async function packFolder(folder: string, target: string): Promise<void> {
  await pipeline(Readable.from(tarOf(folder)), createGzip(), createWriteStream(target, { flags: "wx", mode: 0o600 }));
}

/** Creates a copy of a folder whose files are hard links. A replaced file in the copy does not change the original. */
export async function linkFolder(folder: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  await chmod(target, (await lstat(folder)).mode & 0o777);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [from, to] = [path.join(folder, entry.name), path.join(target, entry.name)];
    if (entry.isDirectory()) await linkFolder(from, to);
    else await link(from, to);
  }
}

async function* tarOf(folder: string): AsyncGenerator<Buffer> {
  yield* entriesOf(folder, "");
  yield Buffer.alloc(2 * tarBlockBytes);
}

async function* entriesOf(folder: string, below: string): AsyncGenerator<Buffer> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = path.join(folder, entry.name);
    const name = below + entry.name;
    if (name === installationFileName) continue;
    if (entry.isDirectory()) {
      yield packedHeader({ path: name, sizeBytes: 0, isFolder: true });
      yield* entriesOf(child, `${name}/`);
    } else if (entry.isFile()) yield* fileOf(child, name);
    else throw unsupportedEntry(name, entry.isSymbolicLink() ? "a symbolic link" : "no file or folder");
  }
}

async function* fileOf(file: string, name: string): AsyncGenerator<Buffer> {
  const { size: sizeBytes, mode } = await lstat(file);
  yield packedHeader({ path: name, sizeBytes, executable: (mode & 0o111) !== 0 });
  let packedBytes = 0;
  for await (const part of sizeBytes <= wholeFileBytes ? [await readFile(file)] : createReadStream(file)) {
    packedBytes += (part as Buffer).length;
    yield part as Buffer;
  }
  if (packedBytes !== sizeBytes) throw new Error(`${file} changed while it was packed`);
  yield Buffer.alloc(tarPaddingBytes(sizeBytes));
}
