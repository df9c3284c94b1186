import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { ArchiveEntry, ArchiveLimits } from "./archive-entry.js";
import type { ReceivedBytes } from "./unpack-job.js";
import { entrySegments, linkLeavesPackage } from "../../../shared/archive/entry-name.js";
import { EntryTree } from "../../../shared/archive/entry-tree.js";
import { archiveTooLarge, invalidArchive, pathTraversal, unsupportedEntry } from "../../../shared/archive/refusal.js";
import { tarEntries } from "./tar-reader.js";
import type { TreeWriter } from "./folder-writer.js";

/**
 * Maximum time in ms that one turn of the event loop writes files. zlib starts the next chunk between two turns, so longer turns would
 * delay its thread.
 */
const longestTurnMs = 1;

export type ArchiveFormat = "tar" | "zip";

/**
 * Unpacks an archive. Returns the path of the package root in the archive, or "" if the archive is the root. Checks each entry before the
 * write. After an error, the caller must delete all written files.
 */
export async function unpack(options: {
  archivePath: string;
  /** Counter of received bytes if the archive can still be incomplete. Undefined if the archive is complete. */
  received?: ReceivedBytes;
  format: ArchiveFormat;
  writer: TreeWriter;
  limits: ArchiveLimits;
}): Promise<string> {
  const { archivePath, received, format, writer, limits } = options;
  // Waits for the complete file if the archive is a zip file, because a zip file has its list of entries at the end.
  await received?.reach(format === "zip" ? Infinity : magic.tar.length);
  await expectMagic(archivePath, format);
  const entries = await entriesOf(format, { archivePath, received, limits });
  const tree = await unpackEntries(entries, writer, limits);
  return tree.packageRoot(format);
}

/** Loads the zip reader only for a zip file, because this takes time at the start of the process. */
async function entriesOf(
  format: ArchiveFormat,
  { archivePath, received, limits }: { archivePath: string; received: ReceivedBytes | undefined; limits: ArchiveLimits },
): Promise<AsyncIterable<ArchiveEntry>> {
  if (format === "tar") return tarEntries(archivePath, limits, received);
  const { zipEntries } = await import("./zip-reader.js");
  return zipEntries(archivePath, limits);
}

const magic = { tar: Buffer.from([0x1f, 0x8b, 0x08]), zip: Buffer.from("PK\u0003\u0004") };

async function expectMagic(archivePath: string, format: ArchiveFormat): Promise<void> {
  const file = await open(archivePath, "r");
  try {
    const wanted = magic[format];
    const { buffer } = await file.read(Buffer.alloc(wanted.length), 0, wanted.length, 0);
    if (!buffer.equals(wanted)) throw invalidArchive(`it is not a ${format === "tar" ? "gzipped tar" : "zip"} file, or is empty`);
  } finally {
    await file.close();
  }
}

/** Writes all entries of an archive. Rejects the archive at the first invalid entry. */
async function unpackEntries(entries: AsyncIterable<ArchiveEntry>, writer: TreeWriter, limits: ArchiveLimits): Promise<EntryTree> {
  const tree = new EntryTree();
  let entryCount = 0;
  let expandedBytes = 0;
  let harmlessLink: ArchiveEntry | undefined;
  let turnBeganMs = performance.now();
  for await (const entry of entries) {
    if (performance.now() - turnBeganMs >= longestTurnMs) {
      await setImmediate();
      turnBeganMs = performance.now();
    }
    entryCount += 1;
    expandedBytes += entry.sizeBytes;
    if (entryCount > limits.maxArchiveEntries) throw archiveTooLarge(`it has more than ${limits.maxArchiveEntries} entries`);
    if (expandedBytes > limits.maxExpandedSizeBytes) throw archiveTooLarge("it unpacks to more bytes than this server allows");
    if (entry.kind === "directory" || entry.kind === "file") {
      const written = unpackEntry(entry, entry.kind, { tree, writer });
      if (written) await written;
      continue;
    }
    refuseLeadingOut(entry);
    harmlessLink ??= entry;
  }
  // Reports a link inside the package only after all entries. If a link that leads out of the package follows, the error names that link
  // instead.
  if (harmlessLink) throw unsupportedEntry(harmlessLink.name, `a ${harmlessLink.kind}`);
  if (tree.fileCount === 0) throw invalidArchive("it contains no files");
  return tree;
}

function unpackEntry(
  entry: ArchiveEntry,
  kind: "directory" | "file",
  { tree, writer }: { tree: EntryTree; writer: TreeWriter },
): Promise<void> | undefined {
  const segments = entrySegments(entry.name, kind);
  if (kind === "directory") {
    tree.addDirectory(segments);
    writer.addFolder(segments);
    return undefined;
  }
  tree.addFile(segments);
  return writer.addFile(segments, entry.executable ? 0o755 : 0o644, entry.content());
}

function refuseLeadingOut(link: ArchiveEntry): void {
  const name = entrySegments(link.name, "file").join("/");
  // A symbolic link is relative to the folder of the link. A hard link is relative to the root of the archive.
  const from = link.kind === "symbolic link" ? name : name.split("/", 1).join("");
  if (linkLeavesPackage(from, link.target ?? "")) throw pathTraversal(`${link.name} -> ${link.target}`);
}
