import { closeSync, chmodSync, constants, fstatSync, lstatSync, openSync, readdirSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { pathOnly } from "../sandbox/sandbox-paths.js";

/** Bytes that each entry counts in addition to its blocks, because even an empty file needs an inode and a name. */
const bytesPerEntry = 4096;
/** `st_blocks` counts units of 512 bytes, regardless of the file system's block size. */
const blockBytes = 512;

/** Disk usage of a folder. */
export interface DiskUsage {
  /** Allocated blocks plus 4 KB per entry; Infinity when a part of the folder cannot be read. */
  readonly bytes: number;
  readonly entries: number;
  /** Size of the largest file as programs see it: a sparse file can have fewer blocks. */
  readonly largestFileBytes: number;
}

/**
 * Measures a folder that a worker writes to, without following symbolic links. Also counts files that are deleted and still open in one of
 * the processes `pids`: their blocks are in use. Blocks the thread: 100,000 entries take about 0.5 s.
 */
export function measureDiskUsage(folder: string, pids: readonly number[]): DiskUsage {
  let [bytes, entries, largestFileBytes] = [0, 0, 0];
  /** Files that were already counted. A file with several names, or open in several processes, counts once. */
  const counted = new Set<string>();
  const add = (stat: Stats): void => {
    const id = `${stat.dev}:${stat.ino}`;
    if (counted.has(id)) return;
    if (stat.nlink !== 1) counted.add(id);
    bytes += stat.blocks * blockBytes;
    if (stat.isFile()) largestFileBytes = Math.max(largestFileBytes, stat.size);
  };
  try {
    for (const stat of statsBelow(folder)) {
      entries += 1;
      add(stat);
    }
  } catch {
    return { bytes: Infinity, entries, largestFileBytes };
  }
  for (const pid of pids) for (const stat of deletedFilesOf(pid)) add(stat);
  return { bytes: bytes + entries * bytesPerEntry, entries, largestFileBytes };
}

function* statsBelow(top: string): Generator<Stats> {
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const { name } of entriesOf(folder)) {
      const stat = lstatSync(path.join(folder, name), { throwIfNoEntry: false });
      if (stat) yield stat;
      if (stat?.isDirectory()) folders.push(path.join(folder, name));
    }
  }
}

/**
 * Returns the entries of a folder; none for a missing folder. First makes the folder readable if its mode denies reading, because a worker
 * can create such a folder.
 */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    if (code !== "EACCES") throw error;
    makeReadable(folder);
    return readdirSync(folder, { withFileTypes: true });
  }
}

/**
 * Makes a folder readable for its owner. Sets the mode through a descriptor, because the worker can replace the folder by a link meanwhile.
 */
function makeReadable(folder: string): void {
  const descriptor = openSync(folder, pathOnly | constants.O_NOFOLLOW);
  try {
    if (fstatSync(descriptor).isDirectory()) chmodSync(`/proc/self/fd/${descriptor}`, 0o700);
  } finally {
    closeSync(descriptor);
  }
}

function deletedFilesOf(pid: number): Stats[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      const stat = statSync(`/proc/${pid}/fd/${descriptor}`, { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.nlink === 0 ? [stat] : [];
    });
  } catch {
    // Ignores a process that has exited or closed a descriptor meanwhile. The next measurement counts the remaining files.
    return [];
  }
}
