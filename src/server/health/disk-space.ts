import type { HealthCheck } from "../../shared/contract/health.js";
import { formatSize } from "../../shared/size.js";
import { isStorageFull } from "../platform/storage-full.js";

/** The health check reports a file system whose free space is below one of these two values. */
const leastFreeShare = 0.1;
const leastFreeBytes = 1024 ** 3;
/** Time in milliseconds after a failed write during which the health check reports this write. */
const writeFailureMs = 10 * 60_000;

/** The consequence of a full file system, by the kind of directory that the file system contains. */
const effects = {
  state: "keys, secrets and logs cannot be written",
  data: "workers cannot write data",
  workers: "uploads of workers fail",
  plugins: "uploads of plugins fail",
} as const;

interface DiskSpaceOptions {
  readonly directories: readonly { readonly kind: keyof typeof effects; readonly path: string }[];
  /**
   * Returns numbers of the file system of a path. `bavail`: blocks that are free for the daemon. `blocks`: all blocks. `bsize`: size of a
   * block in bytes.
   */
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

/**
 * Computes the health check `disk-space` from the free space of the daemon's directories and from the last write that failed on a full
 * disk.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #writeFailedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** Records the time of an error if a full disk caused the error. Ignores all other errors. */
  noteError(error: unknown): void {
    const isInsufficient = error instanceof Error && "code" in error && error.code === "INSUFFICIENT_STORAGE";
    if (isInsufficient || isStorageFull(error)) this.#writeFailedAtMs = this.#options.now();
  }

  /**
   * Returns the health check `disk-space`. If its status is `degraded`, the message names the directory with the least free space among
   * those below a limit. If none is below a limit, the message names the directory with the least free space.
   */
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
      // Omits a directory that cannot be read. Other health checks report missing directories.
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
