import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { makeSubdirectory } from "../../platform/make-directory.js";
import { encodeRecord, fileStart, readRecords, type HistoryRecord } from "./history-records.js";

/** When the journal has this size, the history moves the rows of the journal to the files of the workers. */
export const journalTargetBytes = 32 * 1024 * 1024;
/** Maximum size of the journal. The journal reaches this size only if the daemon cannot write the files of the workers. */
const journalMaximumBytes = 2 * journalTargetBytes;
const ending = ".history";

/**
 * Files of the metrics history: a journal with the newest rows of all workers, and one file per worker with older rows. Changes run one
 * after another. The daemon does not sync the files, so a power failure can lose the last minutes.
 */
export class HistoryFiles {
  readonly #directory: string;
  readonly #journal: string;
  readonly #previousJournal: string;
  readonly #workersDirectory: string;
  #journalBytes = 0;
  #lastChange: Promise<unknown> = Promise.resolve();

  /** Does not access the disk. The first write creates `directory` with mode 0700. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#journal = path.join(directory, "journal");
    this.#previousJournal = path.join(directory, "journal.previous");
    this.#workersDirectory = path.join(directory, "workers");
  }

  get journalBytes(): number {
    return this.#journalBytes;
  }

  /** Returns the records of the journal, oldest first. Ignores an incomplete record at the end, which the next append removes. */
  async readJournal(): Promise<HistoryRecord[]> {
    const previous = readRecords(await readOrEmpty(this.#previousJournal));
    const current = readRecords(await readOrEmpty(this.#journal));
    this.#journalBytes = current.soundBytes;
    return [...previous.records, ...current.records];
  }

  /**
   * Appends records to the journal in one write. Does nothing if the journal would exceed its maximum size. If the write fails, rejects
   * with the error of the file system. The next append then removes an incomplete record.
   */
  append(records: readonly HistoryRecord[]): Promise<void> {
    return this.#inOrder(async () => {
      const bytes = Buffer.concat(records.map(encodeRecord));
      if (records.length === 0 || this.#journalBytes + bytes.length > journalMaximumBytes) return;
      await makeSubdirectory(this.#directory, 0o700);
      const file = await open(this.#journal, "a", 0o600);
      try {
        const { size } = await file.stat();
        this.#journalBytes = Math.min(this.#journalBytes, size);
        if (size > this.#journalBytes) await file.truncate(this.#journalBytes);
        const content = this.#journalBytes === 0 ? Buffer.concat([fileStart, bytes]) : bytes;
        await file.writeFile(content);
        this.#journalBytes += content.length;
      } finally {
        await file.close();
      }
    });
  }

  /**
   * Begins a new journal and keeps the previous journal until a call of `deletePreviousJournal`. If an interrupted compaction has left a
   * previous journal, does nothing and returns false.
   */
  rotateJournal(): Promise<boolean> {
    return this.#inOrder(async () => {
      if (await exists(this.#previousJournal)) return false;
      await rename(this.#journal, this.#previousJournal).catch(ignoreMissing);
      this.#journalBytes = 0;
      return true;
    });
  }

  deletePreviousJournal(): Promise<void> {
    return this.#inOrder(() => rm(this.#previousJournal, { force: true }));
  }

  /** Returns the records in the file of a worker, or of the daemon if `name` is empty. Returns no records if the file is missing. */
  async read(name: string): Promise<HistoryRecord[]> {
    return readRecords(await readOrEmpty(this.#fileOf(name))).records;
  }

  /**
   * Waits for all earlier changes, then replaces the file of a worker. Does nothing if `isWanted` returns false at that time. Readers see
   * either the old or the new file.
   */
  write(name: string, records: readonly HistoryRecord[], isWanted: () => boolean): Promise<void> {
    return this.#inOrder(async () => {
      if (!isWanted()) return;
      const file = this.#fileOf(name);
      await makeSubdirectory(this.#directory, 0o700);
      await makeSubdirectory(this.#workersDirectory, 0o700);
      const unfinished = path.join(this.#directory, "unfinished");
      await writeFile(unfinished, Buffer.concat([fileStart, ...records.map(encodeRecord)]), { mode: 0o600 });
      await rename(unfinished, file);
    });
  }

  delete(name: string): Promise<void> {
    return this.#inOrder(() => rm(this.#fileOf(name), { force: true }));
  }

  /**
   * Deletes the file of each worker for which `isUsed` returns false, if the file was last written before `beforeMs` (Unix time in
   * milliseconds).
   */
  deleteOlder(beforeMs: number, isUsed: (name: string) => boolean): Promise<void> {
    return this.#inOrder(async () => {
      for (const fileName of await readdir(this.#workersDirectory).catch(() => [])) {
        const file = path.join(this.#workersDirectory, fileName);
        const name = workerOf(fileName);
        if (name === undefined || isUsed(name)) continue;
        const { mtimeMs } = await stat(file);
        if (mtimeMs < beforeMs) await rm(file);
      }
    });
  }

  #fileOf(name: string): string {
    return name === ""
      ? path.join(this.#directory, `daemon${ending}`)
      : path.join(this.#workersDirectory, encodeURIComponent(name) + ending);
  }

  #inOrder<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#lastChange.then(change, change);
    this.#lastChange = result.catch(() => undefined);
    return result;
  }
}

/** Returns the name of the worker whose history a file contains. Returns undefined for a file that is not part of the history. */
function workerOf(fileName: string): string | undefined {
  if (!fileName.endsWith(ending)) return undefined;
  try {
    return decodeURIComponent(fileName.slice(0, -ending.length));
  } catch {
    return undefined;
  }
}

/**
 * Returns the content of a file, or no bytes if the file is missing or unreadable. The history then continues without the rows of this
 * file.
 */
function readOrEmpty(file: string): Promise<Buffer> {
  return readFile(file).catch(() => Buffer.alloc(0));
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
