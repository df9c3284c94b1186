import type { HealthCheck } from "../../shared/contract/health.js";
import { formatSize } from "../../shared/size.js";
import { isStorageFull } from "../platform/storage-full.js";

/** A file system with less free space than one of these values is reported. */
const leastFreeShare = 0.1;
const leastFreeBytes = 1024 ** 3;
/** Time in milliseconds for which a failed write is reported. */
const writeFailureMs = 10 * 60_000;

/** What the daemon cannot do when the file system of a directory is full. */
const effects = {
  state: "keys, secrets and logs cannot be written",
  data: "workers cannot write data",
  workers: "uploads of workers fail",
  plugins: "uploads of plugins fail",
} as const;

interface DiskSpaceOptions {
  readonly directories: readonly { readonly kind: keyof typeof effects; readonly path: string }[];
  /** Returns the number of blocks that are free for the daemon, the number of all blocks, and the size of a block in bytes. */
  readonly statfs: (path: string) => Promise<{ readonly bavail: number; readonly blocks: number; readonly bsize: number }>;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
}

interface FreeSpace {
  readonly kind: keyof typeof effects;
  readonly path: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The free space of the daemon's directories, and the last write that failed because no space was left. */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #writeFailedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** Records the error of a failed call or write. Only errors of a full disk count. */
  noteError(error: unknown): void {
    const isInsufficient = error instanceof Error && "code" in error && error.code === "INSUFFICIENT_STORAGE";
    if (isInsufficient || isStorageFull(error)) this.#writeFailedAtMs = this.#options.now();
  }

  /** Returns the check `disk-space`. Its message names the directory with the least free space. */
  async check(): Promise<HealthCheck> {
    const spaces = (await Promise.all(this.#options.directories.map((directory) => this.#read(directory)))).flat();
    const [least] = spaces.toSorted((a, b) => a.freeBytes - b.freeBytes);
    const ageMs = this.#options.now() - this.#writeFailedAtMs;
    const hasFailed = ageMs < writeFailureMs;
    const low = spaces.filter(isLow).toSorted((a, b) => a.freeBytes - b.freeBytes)[0];
    if (!hasFailed && !low) return { name: "disk-space", status: "ok" };
    const failure = hasFailed ? `A write failed ${Math.round(ageMs / 60_000)} min ago because no space was left. ` : "";
    const shown = low ?? least;
    return { name: "disk-space", status: "degraded", message: `${failure}${shown ? describe(shown) : "The free space is unknown."}` };
  }

  async #read({ kind, path }: DiskSpaceOptions["directories"][number]): Promise<FreeSpace[]> {
    try {
      const { bavail, blocks, bsize } = await this.#options.statfs(path);
      return [{ kind, path, freeBytes: bavail * bsize, totalBytes: blocks * bsize }];
    } catch {
      // Other checks report a missing directory.
      return [];
    }
  }
}

function isLow({ freeBytes, totalBytes }: FreeSpace): boolean {
  return freeBytes < leastFreeBytes || freeBytes < leastFreeShare * totalBytes;
}

function describe({ kind, path, freeBytes, totalBytes }: FreeSpace): string {
  return `${path} has ${formatSize(freeBytes)} of ${formatSize(totalBytes)} free. When it is full, ${effects[kind]}. Free disk space.`;
}
