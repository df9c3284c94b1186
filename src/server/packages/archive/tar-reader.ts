import type { ArchiveEntry, ArchiveLimits } from "./archive-entry.js";
import type { ReceivedBytes } from "./unpack-job.js";
import { gunzipFile } from "./gzip-reader.js";
import { invalidArchive, unsupportedEntry } from "../../../shared/archive/refusal.js";
import { decodeUtf8, isZeroBlock, parsePaxRecords, parseTarHeader, tarBlockBytes, type TarHeader } from "./tar-header.js";

const longestExtensionBytes = 1024 * 1024;
/**
 * Maximum number of bytes that an entry takes in addition to its content: the header, the padding, and the header and body of a long name.
 */
const overheadBytesPerEntry = 5 * tarBlockBytes;

const unsupportedTypes: Record<string, string> = {
  "3": "a character device",
  "4": "a block device",
  "6": "a named pipe",
  "7": "a contiguous file",
  S: "a sparse file",
};

/** Fields of an extension header. The fields apply to the next entry of the archive. */
interface Extension {
  path?: string;
  linkpath?: string;
  size?: string;
}

/**
 * Yields the entries of a gzipped tar file in the POSIX (ustar, pax) and GNU formats. Rejects unknown types, invalid numbers and trailing
 * bytes, because tools differ in their treatment and could see other entries.
 */
export function tarEntries(path: string, limits: ArchiveLimits, received?: ReceivedBytes): AsyncIterable<ArchiveEntry> {
  const maxStreamBytes = limits.maxExpandedSizeBytes + limits.maxArchiveEntries * overheadBytesPerEntry + longestExtensionBytes;
  return readTar(gunzipFile(path, maxStreamBytes, received));
}

/** Yields the entries of an uncompressed tar stream, by the same rules as `tarEntries`. */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<ArchiveEntry> {
  const source = new ByteSource(chunks);
  try {
    let extension: Extension | undefined;
    for (;;) {
      const block = source.takeLoaded(tarBlockBytes) ?? (await source.take(tarBlockBytes));
      if (block.length === 0 || isEnd(block)) break;
      const header = parseTarHeader(block);
      if (/[xgLK]/.test(header.type)) {
        extension = await readExtension(source, header, extension);
        continue;
      }
      const { entry, bytesLeft } = entryOf(source, header, extension ?? {});
      yield entry;
      await passOver(source, bytesLeft());
      extension = undefined;
    }
    if (extension) throw invalidArchive("it ends after an extension header, without an entry");
    await expectOnlyZeros(source);
  } finally {
    await source.close();
  }
}

function isEnd(block: Buffer): boolean {
  if (block.length < tarBlockBytes) throw invalidArchive("it is not a tar archive, or is cut off");
  return isZeroBlock(block);
}

/**
 * Throws if a byte other than zero follows the end of the archive. Tar programs fill the last record with zeros, but another tool could
 * read other bytes as entries.
 */
async function expectOnlyZeros(source: ByteSource): Promise<void> {
  for await (const piece of source.upTo(Number.MAX_SAFE_INTEGER)) {
    if (!isZeroBlock(piece)) throw invalidArchive("it has bytes after its end mark");
  }
}

async function readExtension(source: ByteSource, header: TarHeader, earlier: Extension | undefined): Promise<Extension | undefined> {
  if (header.sizeBytes > longestExtensionBytes) throw invalidArchive("a name or pax header in it is longer than 1 MiB");
  const body = await source.take(header.sizeBytes);
  if (body.length < header.sizeBytes) throw invalidArchive("it is cut off");
  await passOver(source, paddingOf(header.sizeBytes));
  if (header.type === "g") {
    refuseNamesForAll(body);
    return earlier;
  }
  const added = header.type === "x" ? paxExtension(body) : gnuExtension(header.type, body);
  for (const key of ["path", "linkpath"] as const) {
    if (added[key] !== undefined && earlier?.[key] !== undefined) throw invalidArchive("an entry in it has two long names");
  }
  return { ...earlier, ...added };
}

function paxExtension(body: Buffer): Extension {
  const records = parsePaxRecords(body);
  for (const key of records.keys()) {
    if (key.startsWith("GNU.sparse.")) throw unsupportedEntry(records.get("GNU.sparse.name") ?? "", "a sparse file");
  }
  const extension: Extension = {};
  for (const key of ["path", "linkpath", "size"] as const) {
    const value = records.get(key);
    if (value !== undefined && value !== "") extension[key] = value;
  }
  return extension;
}

function gnuExtension(type: string, body: Buffer): Extension {
  const text = decodeUtf8(body).replace(/\0+$/, "");
  return type === "L" ? { path: text } : { linkpath: text };
}

function refuseNamesForAll(body: Buffer): void {
  const records = parsePaxRecords(body);
  for (const key of ["path", "linkpath", "size"]) {
    if (records.has(key)) throw invalidArchive("a global pax header in it renames entries");
  }
}

/** Returns the entry and a function. The function returns the number of bytes that are still unread before the next entry. */
function entryOf(source: ByteSource, header: TarHeader, extension: Extension): { entry: ArchiveEntry; bytesLeft: () => number } {
  const name = extension.path ?? header.name;
  const kind = kindOf(header.type, name);
  const statedBytes = extension.size === undefined ? header.sizeBytes : paxSize(extension.size);
  if (kind === "directory" && statedBytes > 0) throw invalidArchive("a folder in it has content");
  const sizeBytes = kind === "file" ? statedBytes : 0;
  let unreadBytes = sizeBytes;
  const content = () => {
    unreadBytes = 0;
    const loaded = source.takeLoaded(sizeBytes);
    return loaded ? [loaded] : piecesOf(source, sizeBytes);
  };
  const bytesLeft = () => unreadBytes + paddingOf(sizeBytes);
  const target = extension.linkpath ?? header.linkTarget;
  return { entry: { name, kind, target, sizeBytes, executable: (header.mode & 0o111) !== 0, content }, bytesLeft };
}

async function* piecesOf(source: ByteSource, byteCount: number): AsyncGenerator<Buffer> {
  let missing = byteCount;
  for await (const piece of source.upTo(byteCount)) {
    missing -= piece.length;
    yield piece;
  }
  if (missing > 0) throw invalidArchive("it is cut off");
}

function kindOf(type: string, name: string): ArchiveEntry["kind"] {
  switch (type) {
    case "0":
      // Treats an entry whose name ends with a slash as a folder, as tar programs did before POSIX.
      return name.endsWith("/") ? "directory" : "file";
    case "1":
      return "hard link";
    case "2":
      return "symbolic link";
    case "5":
      return "directory";
    default:
      throw unsupportedEntry(name, unsupportedTypes[type] ?? "of a type that is not supported");
  }
}

function paxSize(text: string): number {
  const size = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw invalidArchive("a pax header has an invalid size");
  return size;
}

function paddingOf(sizeBytes: number): number {
  return (tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes;
}

async function passOver(source: ByteSource, byteCount: number): Promise<void> {
  if (!source.takeLoaded(byteCount) && !(await source.skip(byteCount))) throw invalidArchive("it is cut off");
}

/** Reads any number of bytes from a stream of chunks. At most one chunk is in memory. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /**
   * Returns the next `byteCount` bytes if all of them are in the current chunk, otherwise undefined. Most reads therefore need no promise.
   */
  takeLoaded(byteCount: number): Buffer | undefined {
    return this.#rest.length >= byteCount ? this.#cut(byteCount) : undefined;
  }

  /** Returns the next `byteCount` bytes. At the end of the stream, returns the remaining bytes. */
  async take(byteCount: number): Promise<Buffer> {
    const loaded = this.takeLoaded(byteCount);
    if (loaded) return loaded;
    const pieces: Buffer[] = [];
    for await (const piece of this.upTo(byteCount)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Yields the next `byteCount` bytes in chunks. At the end of the stream, yields the remaining bytes. */
  async *upTo(byteCount: number): AsyncGenerator<Buffer> {
    let missing = byteCount;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#refill())) return;
      const piece = this.#cut(Math.min(missing, this.#rest.length));
      missing -= piece.length;
      yield piece;
    }
  }

  /** Skips `byteCount` bytes. Returns false if the stream ends earlier. */
  async skip(byteCount: number): Promise<boolean> {
    let missing = byteCount;
    while (missing > 0) {
      if (this.#rest.length === 0 && !(await this.#refill())) return false;
      missing -= this.#cut(Math.min(missing, this.#rest.length)).length;
    }
    return true;
  }

  /** Closes the source of the chunks. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #refill(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done) return false;
    this.#rest = next.value;
    return true;
  }

  #cut(byteCount: number): Buffer {
    const piece = this.#rest.subarray(0, byteCount);
    this.#rest = this.#rest.subarray(byteCount);
    return piece;
  }
}
