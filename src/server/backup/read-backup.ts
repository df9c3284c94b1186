import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { z } from "zod";
import { ApiError } from "../../shared/api-error.js";
import { entrySegments } from "../../shared/archive/entry-name.js";
import type { ArchiveEntry } from "../packages/archive/archive-entry.js";
import { readTar } from "../packages/archive/tar-reader.js";
import {
  BackupError,
  invalidBackup,
  entryNames,
  formatSchema,
  formatVersion,
  longestDocumentBytes,
  manifestSchema,
  packageListSchema,
  type Format,
  type Manifest,
  type PackageKind,
  type PackageList,
} from "./backup-format.js";

/** Position of a package in a backup. All entries with the same position come from one attempt to read the package. */
export interface PackageNumber {
  readonly kind: PackageKind;
  readonly directory: number;
  readonly number: number;
}

/** Receives the entries of a backup in order. The sink must read the content of each entry completely. */
export interface BackupSink {
  keyStore(content: AsyncIterable<Buffer>): Promise<void>;
  file(at: PackageNumber, segments: readonly string[], content: AsyncIterable<Buffer>): Promise<void>;
  /** Called when all files of a package have been read and match the package's list. */
  package(at: PackageNumber, list: PackageList): Promise<void>;
  /**
   * Called if the backup contains no list for the last files. The backup wrote these files before their package changed, and then read the
   * package again.
   */
  discardUnlisted(): Promise<void>;
}

/**
 * Reads a complete backup. Checks the names, the digests and that nothing is missing. Returns the manifest. Throws BACKUP_NOT_FOUND or
 * INVALID_BACKUP.
 */
export async function readBackup(file: string, sink: BackupSink): Promise<Manifest> {
  const stats = await stat(file).catch((cause: unknown) => {
    throw new BackupError("BACKUP_NOT_FOUND", `${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause });
  });
  if (!stats.isFile()) throw new BackupError("BACKUP_NOT_FOUND", `${file} is not a file`);
  const gunzip = createGunzip();
  pipeline(createReadStream(file), gunzip, () => undefined);
  try {
    return await new BackupReading(file, sink).read(readTar(gunzip));
  } catch (error) {
    if (error instanceof ApiError) throw invalidBackup(file, `one of its entries is invalid (${error.code}: ${error.message})`, error);
    if (String((error as NodeJS.ErrnoException).code).startsWith("Z_"))
      throw invalidBackup(file, "it is damaged, truncated or not a gzip file", error);
    throw error;
  } finally {
    gunzip.destroy();
  }
}

class BackupReading {
  readonly #file: string;
  readonly #sink: BackupSink;
  #format: Format | undefined;
  #keyStoreSha256: string | undefined;
  #manifest: Manifest | undefined;
  #current: { readonly prefix: string; readonly digests: Map<string, { sha256: string; sizeBytes: number }> } | undefined;
  readonly #packages: Manifest["packages"] = [];

  constructor(file: string, sink: BackupSink) {
    this.#file = file;
    this.#sink = sink;
  }

  async read(entries: AsyncIterable<ArchiveEntry>): Promise<Manifest> {
    for await (const entry of entries) {
      if (entry.kind !== "file") throw this.#invalid(`it contains a ${entry.kind}`);
      if (this.#manifest) throw this.#invalid("it has entries after its manifest");
      await this.#take(entry, entrySegments(entry.name, "file"));
    }
    if (!this.#manifest) throw this.#invalid("it has no manifest at its end");
    return this.#manifest;
  }

  async #take(entry: ArchiveEntry, segments: readonly string[]): Promise<void> {
    const name = segments.join("/");
    if (!this.#format) return this.#takeFormat(name, entry);
    if (name === entryNames.keyStore && this.#keyStoreSha256 === undefined) {
      const digest = new DigestOf(entry.content());
      await this.#sink.keyStore(digest.content());
      this.#keyStoreSha256 = digest.sha256();
      return;
    }
    if (name === entryNames.manifest) return this.#takeManifest(await this.#document(entry, manifestSchema));
    const [, prefix = "", kind, directory, number, rest] =
      /^((workers|plugins|data)\/(\d{1,3})\/(\d{1,7}))(?:\.json|\/(.+))$/.exec(name) ?? [];
    if (kind === undefined) throw this.#invalid(`it contains the unknown entry ${JSON.stringify(name)}`);
    const at = { kind: kind as PackageKind, directory: Number(directory), number: Number(number) };
    if (rest === undefined) await this.#takeList(at, prefix, entry);
    else await this.#takeFile(at, prefix, entry, segments.slice(3));
  }

  async #takeFormat(name: string, entry: ArchiveEntry): Promise<void> {
    if (name !== entryNames.format) throw this.#invalid("it is not a backup of runtimectl");
    const { content } = await this.#document(entry, formatSchema);
    if (content.version > formatVersion)
      throw this.#invalid(
        `runtimectl ${content.runtimectl} wrote it in format ${content.version}, and this runtimectl supports formats up to ${formatVersion}: upgrade runtimectl`,
      );
    this.#format = content;
  }

  async #takeFile(at: PackageNumber, prefix: string, entry: ArchiveEntry, segments: readonly string[]): Promise<void> {
    if (this.#current?.prefix !== prefix) {
      await this.#sink.discardUnlisted();
      this.#current = { prefix, digests: new Map() };
    }
    const name = segments.join("/");
    if (this.#current.digests.has(name)) throw this.#invalid(`it contains ${JSON.stringify(name)} twice`);
    const digest = new DigestOf(entry.content());
    await this.#sink.file(at, segments, digest.content());
    this.#current.digests.set(name, { sha256: digest.sha256(), sizeBytes: entry.sizeBytes });
  }

  async #takeList(at: PackageNumber, prefix: string, entry: ArchiveEntry): Promise<void> {
    const { content: list, sha256 } = await this.#document(entry, packageListSchema);
    if (this.#current?.prefix !== prefix) await this.#sink.discardUnlisted();
    const digests = this.#current?.prefix === prefix ? this.#current.digests : new Map();
    this.#current = undefined;
    const place = entrySegments(list.path, "directory");
    if (place.length === 0 || place.length > 3 || place.some((segment) => segment.startsWith(".")))
      throw this.#invalid(`${JSON.stringify(list.path)} is not the path of a package`);
    for (const folder of list.folders) if (entrySegments(folder, "directory").length === 0) throw this.#invalid("a folder has no name");
    const isSound =
      list.files.length === digests.size &&
      list.files.every((file) => digests.get(file.path)?.sha256 === file.sha256 && digests.get(file.path)?.sizeBytes === file.sizeBytes);
    if (!isSound) throw this.#invalid(`the files of ${list.path} differ from the files that were backed up`);
    this.#packages.push({ ...at, path: list.path, sha256 });
    await this.#sink.package(at, list);
  }

  async #takeManifest({ content: manifest }: { content: Manifest }): Promise<void> {
    await this.#sink.discardUnlisted();
    if (this.#keyStoreSha256 === undefined || manifest.keyStore.sha256 !== this.#keyStoreSha256)
      throw this.#invalid("its key store differs from the key store that was backed up");
    if (manifest.createdAt !== this.#format?.createdAt || marks(manifest.packages) !== marks(this.#packages))
      throw this.#invalid("its packages differ from the packages in its manifest");
    this.#manifest = manifest;
  }

  async #document<Schema extends z.ZodType>(entry: ArchiveEntry, schema: Schema): Promise<{ content: z.infer<Schema>; sha256: string }> {
    if (entry.sizeBytes > longestDocumentBytes) throw this.#invalid(`its entry ${entry.name} is too long`);
    const digest = new DigestOf(entry.content());
    const pieces: Buffer[] = [];
    for await (const piece of digest.content()) pieces.push(piece);
    try {
      return { content: schema.parse(JSON.parse(Buffer.concat(pieces).toString())), sha256: digest.sha256() };
    } catch (error) {
      throw this.#invalid(`its entry ${JSON.stringify(entry.name)} cannot be parsed`, error);
    }
  }

  #invalid(why: string, cause?: unknown): BackupError {
    return invalidBackup(this.#file, why, cause);
  }
}

/** Passes a stream through and calculates the SHA-256 digest of its content. */
class DigestOf {
  readonly #content: Iterable<Buffer> | AsyncIterable<Buffer>;
  readonly #hash = createHash("sha256");

  constructor(content: Iterable<Buffer> | AsyncIterable<Buffer>) {
    this.#content = content;
  }

  async *content(): AsyncGenerator<Buffer> {
    for await (const piece of this.#content) {
      this.#hash.update(piece);
      yield piece;
    }
  }

  sha256(): string {
    return this.#hash.digest("hex");
  }
}

function marks(packages: Manifest["packages"]): string {
  return packages
    .map(({ kind, directory, number, path, sha256 }) => `${kind} ${directory} ${number} ${sha256} ${path}`)
    .toSorted()
    .join("\n");
}
