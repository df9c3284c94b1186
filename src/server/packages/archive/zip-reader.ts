import { crc32 } from "node:zlib";
import { openPromise, type Entry, type LocalFileHeader, type ZipFile } from "yauzl";
import { ApiError } from "../../../shared/api-error.js";
import type { ArchiveEntry, ArchiveLimits } from "./archive-entry.js";
import { checkRatio } from "./gzip-reader.js";
import { archiveTooLarge, invalidArchive, unsupportedEntry } from "../../../shared/archive/refusal.js";
import { decodeUtf8 } from "./tar-header.js";
import { open } from "node:fs/promises";

/** Maximum compression ratio that deflate can reach: 1,032 to 1. */
const highestDeflateRatio = 1032;
/** Length in bytes of the longest data descriptor. A data descriptor can follow the data of an entry. */
const longestDescriptorBytes = 24;
const unknownUntilZip64 = 0xffffffff;
const unicodePathExtraField = 0x7075;

const endSignature = 0x06054b50;
const endBytes = 22;
const locatorSignature = 0x07064b50;
const locatorBytes = 20;
const zip64EndBytes = 56;
const longestCommentBytes = 0xffff;

interface LocatedEntry {
  readonly entry: Entry;
  readonly name: string;
  readonly dataEnd: number;
}

/**
 * Yields the entries of a zip file. Rejects a file whose central directory contradicts a local header, the data or itself, because another
 * tool could see other entries.
 */
export async function* zipEntries(path: string, limits: ArchiveLimits): AsyncGenerator<ArchiveEntry> {
  const zip = await orInvalid(openPromise(path, { decodeStrings: false, autoClose: false, validateEntrySizes: true }));
  try {
    if (zip.entryCount > limits.maxArchiveEntries) throw archiveTooLarge(`it has more than ${limits.maxArchiveEntries} entries`);
    const located = await locateEntries(zip, await readZipEnd(path));
    checkSizes(zip, located, limits);
    for (const { entry, name } of located) yield archiveEntry(zip, entry, name);
  } finally {
    zip.close();
  }
}

/** Reads the central directory and all local headers. Throws if a local header differs from its entry in the directory. */
async function locateEntries(zip: ZipFile, centralDirectoryEnd: number): Promise<LocatedEntry[]> {
  const located: LocatedEntry[] = [];
  const entries = zip.eachEntry();
  for (;;) {
    const next = await orInvalid(entries.next());
    if (next.done) break;
    const entry = next.value;
    if (entry.isEncrypted()) throw invalidArchive("it is encrypted");
    if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) throw invalidArchive("it uses a compression other than deflate");
    const local = await orInvalid(zip.readLocalFileHeaderPromise(entry, { minimal: false }));
    if (!agree(entry, local)) throw invalidArchive("its central directory and its entries disagree");
    located.push({ entry, name: nameOf(entry), dataEnd: local.fileDataStart + entry.compressedSize });
  }
  // Compares the read position with the end of the directory. yauzl reads only the stated number of entries and would miss further entries.
  if (Number(zip.readEntryCursor) !== centralDirectoryEnd)
    throw invalidArchive("its central directory contains more or fewer entries than stated");
  checkSpans(located);
  return located;
}

function agree(entry: Entry, local: LocalFileHeader): boolean {
  const sizesFollow = (local.generalPurposeBitFlag & 8) !== 0;
  const same = (stated: number, known: number) => stated === known || stated === unknownUntilZip64 || (sizesFollow && stated === 0);
  return (
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & 1) === 0 &&
    (local.crc32 === entry.crc32 || (sizesFollow && local.crc32 === 0)) &&
    same(local.compressedSize, entry.compressedSize) &&
    same(local.uncompressedSize, entry.uncompressedSize)
  );
}

/**
 * Throws unless the entries follow each other from the first byte on, without gaps or overlaps. Overlapping entries can form an archive
 * bomb. A gap can contain content that other tools find.
 */
function checkSpans(located: readonly LocatedEntry[]): void {
  let end = 0;
  for (const { entry, dataEnd } of located.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader)) {
    const gap = entry.relativeOffsetOfLocalHeader - end;
    if (gap < 0) throw invalidArchive("its entries overlap");
    if (gap > (end === 0 ? 0 : longestDescriptorBytes)) throw invalidArchive("it has bytes that belong to no entry");
    end = dataEnd;
  }
}

function checkSizes(zip: ZipFile, located: readonly LocatedEntry[], limits: ArchiveLimits): void {
  let expandedBytes = 0;
  for (const { entry } of located) {
    if (entry.uncompressedSize > (entry.compressedSize + 1) * highestDeflateRatio)
      throw invalidArchive("the stated size of an entry is impossible");
    expandedBytes += entry.uncompressedSize;
  }
  if (expandedBytes > limits.maxExpandedSizeBytes) throw archiveTooLarge("it unpacks to more bytes than this server allows");
  checkRatio(expandedBytes, zip.fileSize);
}

function nameOf(entry: Entry): string {
  const name = decodeUtf8(entry.fileNameRaw);
  const unicodePath = entry.extraFields.find((field) => field.id === unicodePathExtraField);
  if (unicodePath && !unicodePath.data.subarray(5).equals(entry.fileNameRaw)) throw invalidArchive("an entry in it has two names");
  return name;
}

function archiveEntry(zip: ZipFile, entry: Entry, name: string): ArchiveEntry {
  const madeOn = entry.versionMadeBy >>> 8;
  // Uses the upper 16 bits as the file mode only if the zip file comes from Unix or macOS. For other systems, these bits have another
  // meaning.
  const mode = madeOn === 3 || madeOn === 19 ? entry.externalFileAttributes >>> 16 : 0;
  const kind = kindOf(name, mode);
  if (kind === "directory" && entry.uncompressedSize > 0) throw invalidArchive("a folder in it has content");
  return { name, kind, sizeBytes: entry.uncompressedSize, executable: (mode & 0o111) !== 0, content: () => content(zip, entry) };
}

function kindOf(name: string, mode: number): "file" | "directory" {
  const isNamedAsDirectory = name.endsWith("/");
  switch (mode & 0o170000) {
    case 0:
      return isNamedAsDirectory ? "directory" : "file";
    case 0o040000:
      if (isNamedAsDirectory) return "directory";
      break;
    case 0o100000:
      if (!isNamedAsDirectory) return "file";
      break;
    case 0o120000:
      throw unsupportedEntry(name, "a symbolic link");
    default:
      throw unsupportedEntry(name, "neither a file nor a folder");
  }
  throw invalidArchive("the name and the type of an entry disagree: one is a file, the other a folder");
}

async function* content(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const stream = await orInvalid(zip.openReadStreamPromise(entry));
  let crc = 0;
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const next = await orInvalid(chunks.next());
      if (next.done) break;
      crc = crc32(next.value, crc);
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
  if (crc !== entry.crc32) throw invalidArchive("the checksum of an entry is wrong");
}

/** Converts an error of yauzl to an ApiError. An error with `syscall` comes from the file system and stays unchanged. */
async function orInvalid<Value>(step: Promise<Value>): Promise<Value> {
  try {
    return await step;
  } catch (error) {
    const isOurs = error instanceof ApiError || (error instanceof Error && "syscall" in error);
    throw isOurs ? error : invalidArchive("its zip structure is damaged", error);
  }
}

/**
 * Returns the end of the central directory in bytes. Throws if its count, size and position contradict each other, or if bytes follow
 * before the end record. yauzl does not check this.
 */
async function readZipEnd(path: string): Promise<number> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const tailBytes = Math.min(size, zip64EndBytes + locatorBytes + endBytes + longestCommentBytes);
    const tailStart = size - tailBytes;
    const { buffer: tail } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, tailStart);
    return tailStart + directoryEnd(tail, tailStart);
  } finally {
    await file.close();
  }
}

function directoryEnd(tail: Buffer, tailStart: number): number {
  let end = tail.length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end -= 1;
  if (end < 0) throw invalidArchive("it is not a zip file, or is cut off");
  const locator = end - locatorBytes;
  if (locator >= 0 && tail.readUInt32LE(locator) === locatorSignature) return zip64DirectoryEnd(tail, locator, tailStart);
  const disks = tail.readUInt32LE(end + 4);
  const countHere = tail.readUInt16LE(end + 8);
  const count = tail.readUInt16LE(end + 10);
  const directorySize = tail.readUInt32LE(end + 12);
  const directoryStart = tail.readUInt32LE(end + 16);
  const isSound = disks === 0 && countHere === count && count > 0 && directoryStart + directorySize === tailStart + end;
  if (!isSound) throw invalidArchive("its central directory is empty, or its stated position is wrong");
  return end;
}

function zip64DirectoryEnd(tail: Buffer, locator: number, tailStart: number): number {
  const end = locator - zip64EndBytes;
  const stated = tail.readBigUInt64LE(locator + 8);
  if (end < 0 || stated !== BigInt(tailStart + end)) throw invalidArchive("the stated position of its zip64 records is wrong");
  const disks = tail.readBigUInt64LE(end + 16);
  const countHere = tail.readBigUInt64LE(end + 24);
  const count = tail.readBigUInt64LE(end + 32);
  const directorySize = tail.readBigUInt64LE(end + 40);
  const directoryStart = tail.readBigUInt64LE(end + 48);
  const isSound = disks === 0n && countHere === count && count > 0n && directoryStart + directorySize === BigInt(tailStart + end);
  if (!isSound) throw invalidArchive("its zip64 central directory is empty, or its stated position is wrong");
  return end;
}
