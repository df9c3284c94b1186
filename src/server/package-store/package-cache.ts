import { lstatSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { installationFileName } from "../../shared/installation-file-name.js";
import type { Log } from "../log/log.js";
import type { PackageRef } from "../packages/package-store.js";

/** Interval in ms at which the cache reads which versions were used. Two uses within this time count as simultaneous. */
const trimIntervalMs = 30_000;

/** A downloaded version with its folder. */
export interface DownloadedVersion extends PackageRef {
  readonly folder: string;
  readonly digest: string;
}

/** The use of a version folder by the worker engine. */
interface FolderUse {
  /** True while an isolate or a request uses the folder. */
  readonly isInUse: boolean;
  /** Number of requests since the start of the daemon. */
  readonly requestCount: number;
}

export type UseOf = (version: PackageRef & { readonly folder: string }) => FolderUse;

interface CachedVersion extends DownloadedVersion {
  /** Sum of the file sizes. Undefined until the folder was measured. */
  sizeBytes: number | undefined;
  usedAtMs: number;
  requestCount: number;
  /** True after the cache has reported that the registry lacks the archive. */
  isReported: boolean;
}

interface PackageCacheOptions {
  readonly sizeBytes: number;
  /** Returns the digest of a version in the index. */
  readonly digestOf: (version: PackageRef) => string | undefined;
  readonly useOf: UseOf;
  /** Returns whether the registry has an archive. Throws if the registry does not respond. */
  readonly hasArchive: (digest: string) => Promise<boolean>;
  /** Deletes the folder unless it is in use. Returns whether the folder was deleted. */
  readonly evict: (version: DownloadedVersion) => Promise<boolean>;
  readonly log: Log;
}

/**
 * Keeps the downloaded versions below a total size: deletes the least recently used ones first. Keeps versions that are in use, that are not
 * in the index, or that the registry lacks. Folders that were copied by hand do not count.
 */
export class PackageCache {
  readonly #options: PackageCacheOptions;
  readonly #versions = new Map<string, CachedVersion>();
  readonly #timer: NodeJS.Timeout;
  #trimming: Promise<void> = Promise.resolve();
  #isTrimPending = false;
  #isClosed = false;

  constructor(options: PackageCacheOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#trimSoon(), trimIntervalMs).unref();
  }

  /** Adds a downloaded version whose digest is the same as in the index. Deletes other versions if the total size is above the limit. */
  note(version: DownloadedVersion): void {
    if (this.#versions.get(version.folder)?.digest === version.digest) return;
    this.#versions.set(version.folder, { ...version, sizeBytes: undefined, usedAtMs: 0, requestCount: 0, isReported: false });
    this.#trimSoon();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#trimming;
  }

  #trimSoon(): void {
    if (this.#isTrimPending || this.#isClosed) return;
    this.#isTrimPending = true;
    this.#trimming = this.#trimming.then(() => this.#trim());
  }

  async #trim(): Promise<void> {
    this.#isTrimPending = false;
    const { sizeBytes: limitBytes, evict, log } = this.#options;
    try {
      let excessBytes = (await this.#measure()) - limitBytes;
      if (excessBytes <= 0) return;
      for (const version of [...this.#versions.values()].toSorted((a, b) => a.usedAtMs - b.usedAtMs)) {
        if (excessBytes <= 0 || this.#isClosed) return;
        if (!(await this.#canEvict(version)) || !(await evict(version))) continue;
        this.#versions.delete(version.folder);
        excessBytes -= version.sizeBytes ?? 0;
        log.info({ name: version.name, version: version.version }, "deleted the downloaded files of the least recently used version");
      }
    } catch (error) {
      log.warn({ err: error }, "downloaded versions above RUNTIME_CACHE_SIZE could not be deleted; the daemon tries again");
    }
  }

  /**
   * Measures new folders, notes which versions were used, and forgets versions whose digest in the index has changed. Returns the total
   * size in bytes.
   */
  async #measure(): Promise<number> {
    const { digestOf, useOf } = this.#options;
    let totalBytes = 0;
    for (const version of this.#versions.values()) {
      if (this.#isClosed) return 0;
      if (digestOf(version) !== version.digest) {
        this.#versions.delete(version.folder);
        continue;
      }
      if (version.sizeBytes === undefined) {
        version.sizeBytes = await sizeOfFolder(version.folder);
        version.usedAtMs = usedSince(installedAtMs(version.folder));
      }
      const { requestCount, isInUse } = useOf(version);
      if (requestCount !== version.requestCount || isInUse) version.usedAtMs = Date.now();
      version.requestCount = requestCount;
      totalBytes += version.sizeBytes;
    }
    return totalBytes;
  }

  async #canEvict(version: CachedVersion): Promise<boolean> {
    const { useOf, hasArchive, log } = this.#options;
    if (useOf(version).isInUse) return false;
    if (await hasArchive(version.digest)) return true;
    if (!version.isReported)
      log.warn(
        { name: version.name, version: version.version },
        "the registry has no archive of this version, so the daemon keeps the downloaded files",
      );
    version.isReported = true;
    return false;
  }
}

/** Returns the sum of the file sizes in a folder. A missing folder has the size 0. */
async function sizeOfFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries) {
    const child = path.join(folder, entry.name);
    bytes += entry.isDirectory()
      ? await sizeOfFolder(child)
      : await lstat(child).then(
          ({ size }) => size,
          () => 0,
        );
  }
  return bytes;
}

/**
 * Returns the time of last use for a new folder. If the folder is younger than 30 s, returns the current time, so that it counts like a
 * version that is in use now.
 */
function usedSince(installedMs: number): number {
  const nowMs = Date.now();
  return nowMs - installedMs < trimIntervalMs ? nowMs : installedMs;
}

function installedAtMs(folder: string): number {
  return lstatSync(path.join(folder, installationFileName), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
