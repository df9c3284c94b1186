import { invalidArchive } from "../../shared/archive/refusal.js";
import { ArchiveListing, isMetadata, type ArchiveText } from "./archive-text.js";
import { blockBytes, padded, paxPath, readTarHeader } from "./tar-header.js";

/** Maximum size of an extended header, which can contain a long entry name. The whole header is kept in memory. */
const longestExtensionBytes = 1024 * 1024;

/** Reads the entry names and the metadata files of a gzipped tar in one pass. Skips all other content without keeping it in memory. */
export async function readTar(file: Blob, signal: AbortSignal): Promise<ArchiveText> {
  const listing = new ArchiveListing();
  const bytes = new Bytes(file.stream().pipeThrough(new DecompressionStream("gzip"), { signal }));
  try {
    let longName: string | undefined;
    for (;;) {
      const header = readTarHeader(await bytes.take(blockBytes));
      if (!header) break;
      const { type, sizeBytes } = header;
      const name = longName ?? header.name;
      const isExtension = ["x", "L", "g"].includes(type);
      const isFile = type === "0";
      const isWanted = isExtension || (isFile && isMetadata(name, sizeBytes));
      if (isExtension && sizeBytes > longestExtensionBytes) throw invalidArchive("an extended header is too large");
      const content = isWanted ? await bytes.take(sizeBytes) : undefined;
      await bytes.skip(padded(sizeBytes) - (content ? sizeBytes : 0));
      longName = isExtension && content ? (longNameIn(type, content) ?? longName) : undefined;
      if (isExtension) continue;
      if (isFile || type === "5") listing.add(name, isFile ? "file" : "directory");
      if (content) listing.addText(name, new TextDecoder().decode(content));
    }
    return listing.toText("tar");
  } finally {
    await bytes.cancel();
  }
}

/** Returns the name of the next entry from the content of an extended header. Undefined if the header has no name. */
function longNameIn(type: string, content: Uint8Array): string | undefined {
  if (type === "L") return new TextDecoder().decode(content).replace(/\0.*$/s, "");
  return type === "x" ? paxPath(content) : undefined;
}

/** Reads or skips an exact number of bytes of a stream. */
class Bytes {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #held: Uint8Array = new Uint8Array();

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async take(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count);
    for (let filled = 0; filled < count;) {
      const piece = await this.#next(count - filled);
      taken.set(piece, filled);
      filled += piece.length;
    }
    return taken;
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0;) left -= (await this.#next(left)).length;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => undefined);
  }

  async #next(mostBytes: number): Promise<Uint8Array> {
    while (this.#held.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) throw invalidArchive("it ends too early");
      this.#held = value;
    }
    const piece = this.#held.subarray(0, mostBytes);
    this.#held = this.#held.subarray(piece.length);
    return piece;
  }
}
