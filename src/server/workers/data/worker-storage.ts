import { statSync } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import path from "node:path";
import { insufficientStorage } from "../../platform/storage-full.js";
import { formatSize } from "../../../shared/size.js";
import { removeTree } from "../../platform/remove-folder.js";
import { DataFolder, type DataLease, type StoringIsolate } from "./data-folder.js";
import { denyWriting } from "./deny-writing.js";
import type { DiskUsage } from "./disk-usage.js";
import { UsageMeter } from "./usage-meter.js";

const intervalMs = 500;
/**
 * Number of bytes by which a data folder can exceed its limit. Above this number, the daemon kills an isolate that still writes, for
 * example through a program that the isolate started.
 */
const mostOvershootBytes = 16 * 1024 * 1024;
/** Maximum time in ms for running calls to complete. Afterwards the daemon kills the remaining isolates of a paused worker. */
const drainTimeoutMs = 30_000;
/** First character of entries in the data directory that are no data folders. No worker name begins with a dot. */
const hidden = ".";
const leftoverKinds = ["copy", "removed"] as const;

interface WorkerStorageOptions {
  /** Directory that contains one data folder per worker name. */
  readonly directory: string;
  /** Maximum size of an isolate's temporary folder. */
  readonly temporaryFolderMaxBytes: number;
  /** Called when a data folder has become full or writable again. */
  readonly onQuota: (data: Pick<DataFolder, "name" | "limitBytes" | "isFull">, usage: DiskUsage) => void;
  /** Called when the daemon cannot measure a folder. The next attempt follows after 500 ms. */
  readonly onError: (error: unknown) => void;
}

interface Watched {
  readonly isolate: StoringIsolate;
  readonly temporaryFolder: string;
  /** Modification time of the temporary folder while it was empty. A later time means that the worker has created an entry. */
  readonly emptyMs: number;
  hasTemporaryFiles: boolean;
  readonly lease: DataLease | undefined;
}

/** Disk usage of a worker's data folder. */
export interface StoredData {
  readonly name: string;
  readonly usage: DiskUsage;
  readonly isFull: boolean;
}

/**
 * The folders that isolates write to. Each worker has a data folder, which is kept when a new version is installed. Each isolate has a
 * temporary folder.
 */
export class WorkerStorage {
  readonly #options: WorkerStorageOptions;
  readonly #meter = new UsageMeter();
  readonly #folders = new Map<string, DataFolder>();
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WorkerStorageOptions) {
    this.#options = options;
  }

  /**
   * Measures the data folder of a worker and registers an isolate. The folder can be missing. Waits while `pauseFor` runs an action. The
   * caller must then call `watch` or `release`.
   */
  async lease(name: string, limitBytes: number): Promise<DataLease> {
    const data = this.#folderOf(name);
    data.limitBytes = limitBytes;
    if (!data.isMeasuredSince(performance.now() - intervalMs)) await this.#measure(data);
    return await data.lease();
  }

  release(lease: DataLease): void {
    lease.data.release(lease);
  }

  /** Enforces the storage limits of an isolate until it exits. Call it before the code of the worker runs. */
  watch(isolate: StoringIsolate, temporaryFolder: string, lease: DataLease | undefined): void {
    const watched = { isolate, temporaryFolder, emptyMs: modifiedMs(temporaryFolder), hasTemporaryFiles: false, lease };
    this.#watched.add(watched);
    if (lease) lease.isolate = isolate;
    void this.#forgetAfterExit(watched);
    this.#timer ??= setTimeout(() => void this.#check(), intervalMs).unref();
  }

  /** Records that an isolate has loaded the code of its worker. Call it for each isolate. */
  noteLoaded(isolate: StoringIsolate): void {
    for (const { isolate: watched, lease } of this.#watched) if (watched === isolate && lease) lease.data.noteLoaded(lease);
  }

  async #forgetAfterExit(watched: Watched): Promise<void> {
    await watched.isolate.exited;
    this.#watched.delete(watched);
    if (watched.lease) this.release(watched.lease);
  }

  /** Returns the usage of all data folders, sorted by worker name. */
  async list(): Promise<StoredData[]> {
    const found: StoredData[] = [];
    for (const name of await this.#names()) {
      const data = this.#folderOf(name);
      await this.#measure(data);
      found.push({ name, usage: data.usage as DiskUsage, isFull: data.isFull });
    }
    return found;
  }

  /** Names of the workers whose data folder is full. */
  get full(): string[] {
    return [...this.#folders.values()].flatMap(({ name, isFull }) => (isFull ? [name] : []));
  }

  /** Returns the path of a worker's data folder. The folder does not have to exist. */
  folderOf(name: string): string {
    return path.join(this.#options.directory, ...name.split("/"));
  }

  /** Returns the path of a worker's data folder. Returns undefined if the worker has no data folder. */
  find(name: string): string | undefined {
    const folder = this.folderOf(name);
    return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined;
  }

  /** Runs `action` while no isolate of the worker runs. Requests to the worker wait until `action` ends. */
  pauseFor<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    return this.#folderOf(name).pauseFor(drainTimeoutMs, action);
  }

  /**
   * Deletes the data folder of a worker. Returns whether the worker had one. If a file cannot be deleted now, the next start of the daemon
   * deletes it.
   */
  async remove(name: string): Promise<boolean> {
    if (this.find(name) === undefined) return false;
    const removedFolder = this.#leftover("removed");
    const data = this.#folderOf(name);
    const isFound = await this.pauseFor(name, async () => {
      if (this.find(name) === undefined) return false;
      await rename(data.folder, removedFolder);
      data.note({ bytes: 0, entries: 0, largestFileBytes: 0 }, performance.now());
      return true;
    });
    if (isFound) await removeTree(removedFolder).catch(() => undefined);
    return isFound;
  }

  /**
   * Copies the data folder of a worker while no isolate of the worker runs. Returns undefined if the worker has no data folder. Rejects
   * with INSUFFICIENT_STORAGE if the disk is full.
   */
  async copy(name: string): Promise<{ folder: string; remove: () => Promise<void> } | undefined> {
    if (this.find(name) === undefined) return undefined;
    const folder = this.#leftover("copy");
    const remove = async (): Promise<void> => void (await removeTree(folder));
    const isFound = await this.pauseFor(name, async () => {
      const source = this.find(name);
      if (source === undefined) return false;
      await copyFolder(source, folder);
      return true;
    }).catch(async (error: unknown) => {
      await remove();
      throw error;
    });
    return isFound ? { folder, remove } : undefined;
  }

  /** Deletes unfinished copies of data folders, and data folders whose deletion an earlier daemon process did not finish. */
  async open(): Promise<void> {
    const { directory } = this.#options;
    for (const name of await readdir(directory).catch(() => []))
      if (leftoverKinds.some((kind) => name.startsWith(`${hidden}${kind}-`))) await removeTree(path.join(directory, name));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#meter.close();
  }

  /** Returns an unused path in the data directory. The next start of the daemon deletes a folder that remains at this path. */
  #leftover(kind: (typeof leftoverKinds)[number]): string {
    return path.join(this.#options.directory, `${hidden}${kind}-${randomUUID()}`);
  }

  #folderOf(name: string): DataFolder {
    const known = this.#folders.get(name);
    if (known) return known;
    const data = new DataFolder(name, this.folderOf(name));
    this.#folders.set(name, data);
    return data;
  }

  async #names(): Promise<string[]> {
    const { directory } = this.#options;
    const names = await foldersIn(directory);
    const scoped = async (name: string) =>
      name.startsWith("@") ? (await foldersIn(path.join(directory, name))).map((inner) => `${name}/${inner}`) : [name];
    return (await Promise.all(names.map(scoped))).flat().toSorted();
  }

  async #check(): Promise<void> {
    try {
      for (const watched of this.#watched) if (hasTemporaryFiles(watched)) await this.#checkTemporaryFolder(watched);
      for (const data of this.#folders.values()) if (data.isolates.length > 0) await this.#checkData(data);
    } catch (error) {
      if (!this.#isClosed) this.#options.onError(error);
    }
    this.#timer = this.#isClosed || this.#watched.size === 0 ? undefined : setTimeout(() => void this.#check(), intervalMs).unref();
  }

  async #checkTemporaryFolder({ isolate, temporaryFolder, lease }: Watched): Promise<void> {
    // If the isolate has a data folder, counts no deleted open files for the temporary folder, because the data folder's usage already
    // contains these files.
    const { bytes } = await this.#meter.measure(temporaryFolder, lease ? [] : [isolate.pid]);
    const { temporaryFolderMaxBytes } = this.#options;
    if (bytes > temporaryFolderMaxBytes) isolate.kill(`its temporary folder (os.tmpdir) exceeded ${formatSize(temporaryFolderMaxBytes)}`);
  }

  async #checkData(data: DataFolder): Promise<void> {
    const wasFull = data.isFull;
    await this.#measure(data);
    if (!wasFull || (data.usage as DiskUsage).bytes <= data.limitBytes + mostOvershootBytes) return;
    for (const isolate of data.writers) isolate.kill("it continued to write although its data folder is full");
  }

  async #measure(data: DataFolder): Promise<void> {
    const pids = data.isolates.map(({ pid }) => pid);
    const usage = await this.#meter.measure(data.folder, pids);
    if (!data.note(usage, performance.now())) return;
    // First denies writing to the running isolates, because the start of their replacements takes time.
    if (data.isFull) for (const isolate of data.writers) if (!(await denyWriting(isolate.pid))) isolate.kill("its data folder is full");
    this.#options.onQuota(data, usage);
  }
}

/**
 * Copies a folder with owners, modes and the holes of sparse files. Does not follow links. Both copies share disk blocks if the file system
 * supports this.
 */
async function copyFolder(source: string, target: string): Promise<void> {
  const run = promisify(execFile);
  const options = { env: { LC_ALL: "C" } };
  try {
    // Makes all files readable first. A worker can create a file that its own user cannot read, and the daemon can run as the same user.
    if (process.getuid?.() !== 0) await run("chmod", ["-R", "u+rX", "--", source], options);
    await run("cp", ["--archive", "--reflink=auto", "--no-target-directory", "--", source, target], options);
  } catch (error) {
    const isFull = String((error as { stderr?: unknown }).stderr).includes("No space left on device");
    throw isFull ? insufficientStorage(error) : error;
  }
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith(hidden) ? [entry.name] : []));
}

function hasTemporaryFiles(watched: Watched): boolean {
  watched.hasTemporaryFiles ||= modifiedMs(watched.temporaryFolder) !== watched.emptyMs;
  return watched.hasTemporaryFiles;
}

/** Returns the Unix time in ms at which an entry of the folder was last created or deleted. Returns 0 for a missing folder. */
function modifiedMs(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
