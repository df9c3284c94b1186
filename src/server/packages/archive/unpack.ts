import { open } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { ArchiveEntry, ArchiveLimits } from "./archive-entry.js";
import type { Arrival } from "./unpack-job.js";
import { entrySegments, linkLeavesPackage } from "../../../shared/archive/entry-name.js";
import { EntryTree } from "../../../shared/archive/entry-tree.js";
import { archiveTooLarge, invalidArchive, pathTraversal, unsupportedEntry } from "../../../shared/archive/refusal.js";
import { tarEntries } from "./tar-reader.js";
import type { TreeWriter } from "./folder-writer.js";

/** Then the event loop has a turn: without one zlib's thread would not be told to go on with the next piece while files are written. */
const longestTurnMs = 1;

export type ArchiveFormat = "tar" | "zip";

/**
 * Unpacks an archive and answers with the package's root in it ("" = the archive's own). Every entry is checked before it is written,
 * and the archive as a whole at its end: when this throws, what was written so far is to be thrown away.
 */
export async function unpack(options: {
  archivePath: string;
  /** Of an archive that may not be whole yet. */
  arrival?: Arrival;
  format: ArchiveFormat;
  writer: TreeWriter;
  limits: ArchiveLimits;
}): Promise<string> {
  const { archivePath, arrival, format, writer, limits } = options;
  // What is in a zip file stands at its end.
  await arrival?.reach(format === "zip" ? Infinity : magic.tar.length);
  await expectMagic(archivePath, format);
  const entries = await entriesOf(format, { archivePath, arrival, limits });
  const tree = await unpackEntries(entries, writer, limits);
  return tree.packageRoot(format);
}

/** What reads zip files is loaded for these only: with it, the process would start a good deal later. */
async function entriesOf(
  format: ArchiveFormat,
  { archivePath, arrival, limits }: { archivePath: string; arrival: Arrival | undefined; limits: ArchiveLimits },
): Promise<AsyncIterable<ArchiveEntry>> {
  if (format === "tar") return tarEntries(archivePath, limits, arrival);
  const { zipEntries } = await import("./zip-reader.js");
  return zipEntries(archivePath, limits);
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
  // Only now: a link that leads out, further on, is the graver reason.
  if (harmlessLink) throw unsupportedEntry(harmlessLink.name, `a ${harmlessLink.kind}`);
  if (tree.fileCount === 0) throw invalidArchive("it holds no files");
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
  // A symbolic link counts from its own folder, a hard link from the archive's root.
  const from = link.kind === "symbolic link" ? name : name.split("/", 1).join("");
  if (linkLeavesPackage(from, link.target ?? "")) throw pathTraversal(`${link.name} -> ${link.target}`);
}
