import { mkdir, open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../move-journal.js";
import type { ArchiveEntry, ArchiveLimits } from "./archive-entry.js";
import { entrySegments, linkLeavesPackage } from "./entry-name.js";
import { EntryTree } from "./entry-tree.js";
import { archiveTooLarge, invalidArchive, pathTraversal, unsupportedEntry } from "./refusal.js";
import { tarEntries } from "./tar-entries.js";
import { WriteQueue } from "./write-queue.js";
import { zipEntries } from "./zip-entries.js";

export type ArchiveFormat = "tar" | "zip";

/** Content up to this size is collected and written in the background; more goes to the disk piece by piece. */
const collectedFileBytes = 512 * 1024;

/**
 * Unpacks an archive into `folder`, which must be empty, and answers with the package's root below it ("" = the folder itself).
 * The archive is read twice: nothing touches the disk until every entry is known to be sound. Afterwards all of it is on stable storage.
 */
export async function unpack(options: {
  archivePath: string;
  format: ArchiveFormat;
  folder: string;
  limits: ArchiveLimits;
}): Promise<string> {
  await expectMagic(options.archivePath, options.format);
  const entries = () => (options.format === "tar" ? tarEntries : zipEntries)(options.archivePath, options.limits);
  const tree = await inspect(entries(), options.limits);
  await write(entries(), options.folder);
  return tree.packageRoot(options.format);
}

const magic = { tar: Buffer.from([0x1f, 0x8b, 0x08]), zip: Buffer.from("PK\u0003\u0004") };

async function expectMagic(archivePath: string, format: ArchiveFormat): Promise<void> {
  const file = await open(archivePath, "r");
  try {
    const wanted = magic[format];
    const { buffer } = await file.read(Buffer.alloc(wanted.length), 0, wanted.length, 0);
    if (!buffer.equals(wanted)) throw invalidArchive(`it is not a ${format === "tar" ? "gzipped tar" : "zip"} file, or an empty one`);
  } finally {
    await file.close();
  }
}

/** Refuses the archive for the first entry that cannot be had. */
async function inspect(entries: AsyncIterable<ArchiveEntry>, limits: ArchiveLimits): Promise<EntryTree> {
  const tree = new EntryTree();
  let entryCount = 0;
  let expandedBytes = 0;
  let harmlessLink: ArchiveEntry | undefined;
  for await (const entry of entries) {
    entryCount += 1;
    expandedBytes += entry.sizeBytes;
    if (entryCount > limits.maxArchiveEntries) throw archiveTooLarge(`it has more than ${limits.maxArchiveEntries} entries`);
    if (expandedBytes > limits.maxExpandedSizeBytes) throw archiveTooLarge("it unpacks to more bytes than this server allows");
    if (entry.kind === "directory") tree.addDirectory(entrySegments(entry.name, "directory"));
    else if (entry.kind === "file") tree.addFile(entrySegments(entry.name, "file"));
    else {
      refuseLeadingOut(entry);
      harmlessLink ??= entry;
    }
  }
  // Only now: a link that leads out, further on, is the graver reason.
  if (harmlessLink) throw unsupportedEntry(harmlessLink.name, `a ${harmlessLink.kind}`);
  if (tree.fileCount === 0) throw invalidArchive("it holds no files");
  return tree;
}

function refuseLeadingOut(link: ArchiveEntry): void {
  const name = entrySegments(link.name, "file").join("/");
  // A symbolic link counts from its own folder, a hard link from the archive's root.
  const from = link.kind === "symbolic link" ? name : name.split("/", 1).join("");
  if (linkLeavesPackage(from, link.target ?? "")) throw pathTraversal(`${link.name} -> ${link.target}`);
}

async function write(entries: AsyncIterable<ArchiveEntry>, root: string): Promise<void> {
  const folders = new Set<string>([""]);
  const queue = new WriteQueue();
  for await (const entry of entries) {
    const segments = entrySegments(entry.name, entry.kind === "directory" ? "directory" : "file");
    await makeFolders(root, entry.kind === "directory" ? segments : segments.slice(0, -1), folders);
    if (entry.kind === "directory") continue;
    const target = path.join(root, ...segments);
    const mode = entry.executable ? 0o755 : 0o644;
    if (entry.sizeBytes > collectedFileBytes) await writePieces(target, mode, entry.content());
    else await queue.add(target, mode, await collect(entry.content()));
  }
  await queue.drain();
  for (const folder of folders) await syncFolder(path.join(root, folder));
}

/** Never recursive: when the staging folder is gone, so is the reason to write. */
async function makeFolders(root: string, segments: readonly string[], made: Set<string>): Promise<void> {
  for (let depth = 1; depth <= segments.length; depth += 1) {
    const folder = segments.slice(0, depth).join("/");
    if (made.has(folder)) continue;
    await mkdir(path.join(root, folder), 0o755);
    made.add(folder);
  }
}

async function collect(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function writePieces(target: string, mode: number, content: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(target, "wx", mode);
  try {
    for await (const piece of content) await writeAll(file, piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
}
