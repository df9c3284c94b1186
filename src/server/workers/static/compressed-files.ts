import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import pLimit from "p-limit";
import writeFileAtomic from "write-file-atomic";
import { compressContent, type ContentCoding } from "../../web/content-coding.js";

/** Maximum number of compressions at the same time. Each compression occupies one core, so a higher number would slow down requests. */
const compressedAtOnce = 2;
/** Maximum number of files that wait for compression. The daemon sends further files without compression. */
const waitingAtMost = 32;
/** Maximum total size in bytes of the stored copies. The daemon deletes the least recently used copies first. */
const storedBytes = 256 * 1024 * 1024;

/**
 * Compressed copies of static files on the disk. The hash of the uncompressed content is the file name of a copy. The daemon creates each
 * copy once and also uses it after a restart.
 */
export class CompressedFiles {
  readonly #directory: string;
  readonly #limit = pLimit(compressedAtOnce);
  readonly #underWay = new Map<string, Promise<Buffer>>();
  /** Sizes of the stored copies by file name. The least recently used copy is first. */
  #stored: Promise<Map<string, number>> | undefined;
  #total = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Returns the content compressed with `coding`. Returns undefined if too many files wait for compression. */
  async compress(content: Buffer, coding: ContentCoding): Promise<Buffer | undefined> {
    const name = `${createHash("sha256").update(content).digest("base64url")}.${coding}`;
    const underWay = this.#underWay.get(name);
    if (underWay) return underWay;
    if (this.#limit.pendingCount >= waitingAtMost) return undefined;
    const compressing = this.#limit(() => this.#readOrMake(name, content, coding));
    this.#underWay.set(name, compressing);
    try {
      return await compressing;
    } finally {
      this.#underWay.delete(name);
    }
  }

  async #readOrMake(name: string, content: Buffer, coding: ContentCoding): Promise<Buffer> {
    this.#stored ??= this.#readDirectory().catch(() => new Map<string, number>());
    const stored = await this.#stored;
    const file = path.join(this.#directory, name);
    const kept = stored.has(name) ? await readFile(file).catch(() => undefined) : undefined;
    const compressed = kept ?? (await compressContent(content, coding));
    try {
      if (!kept) await writeFileAtomic(file, compressed, { mode: 0o600 });
      this.#note(stored, name, compressed.length);
      await this.#removeOldest(stored);
    } catch {
      // Ignores the error, for example of a full or read-only disk. Without a stored copy, the next request compresses the file again.
    }
    return compressed;
  }

  async #readDirectory(): Promise<Map<string, number>> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const names = await readdir(this.#directory);
    const files = await Promise.all(names.map(async (name) => ({ name, stats: await stat(path.join(this.#directory, name)) })));
    const stored = new Map<string, number>();
    for (const { name, stats } of files.toSorted((a, b) => a.stats.mtimeMs - b.stats.mtimeMs)) this.#note(stored, name, stats.size);
    return stored;
  }

  #note(stored: Map<string, number>, name: string, sizeBytes: number): void {
    this.#total += sizeBytes - (stored.get(name) ?? 0);
    stored.delete(name);
    stored.set(name, sizeBytes);
  }

  async #removeOldest(stored: Map<string, number>): Promise<void> {
    for (const [name, sizeBytes] of stored) {
      if (this.#total <= storedBytes) return;
      stored.delete(name);
      this.#total -= sizeBytes;
      await rm(path.join(this.#directory, name), { force: true });
    }
  }
}
