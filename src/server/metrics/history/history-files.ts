import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { encodeRecord, fileStart, readRecords, type HistoryRecord } from "./history-records.js";

/** Size of the journal from which the history moves its rows to the files of the workers. */
export const journalTargetBytes = 32 * 1024 * 1024;
/** Maximum size of the journal, which it reaches only if the files of the workers cannot be written. */
const journalMaximumBytes = 2 * journalTargetBytes;
const ending = ".history";

/**
 * Files of the metrics history: a journal with the newest rows of all workers, and one file per worker with older rows. All changes run one
 * after another. Nothing is synced: a power failure can lose the last minutes.
 */
export class HistoryFiles {
  readonly #directory: string;
  readonly #journal: string;
  readonly #previousJournal: string;
  readonly #workersDirectory: string;
  #journalBytes = 0;
  #lastChange: Promise<unknown> = Promise.resolve();

  /** The first write creates the directory with mode 0700. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#journal = path.join(directory, "journal");
    this.#previousJournal = path.join(directory, "journal.previous");
    this.#workersDirectory = path.join(directory, "workers");
  }

  get journalBytes(): number {
    return this.#journalBytes;
  }

  /** Returns the records of the journal, oldest first. An incomplete record at the end is ignored, and removed by the next append. */
  async readJournal(): Promise<HistoryRecord[]> {
    const previous = readRecords(await readOrEmpty(this.#previousJournal));
    const current = readRecords(await readOrEmpty(this.#journal));
    this.#journalBytes = current.soundBytes;
    return [...previous.records, ...current.records];
  }

  /**
   * Appends records to the journal in one write. Does nothing when the journal has its maximum size. Rejects with the error of the file
   * system; the journal is then as before, or the next append removes the incomplete record.
   */
  append(records: readonly HistoryRecord[]): Promise<void> {
    return this.#inOrder(async () => {
      const bytes = Buffer.concat(records.map(encodeRecord));
      if (records.length === 0 || this.#journalBytes + bytes.length > journalMaximumBytes) return;
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
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
   * Begins a new journal and keeps the previous one until `deletePreviousJournal`. Returns false and does nothing if a previous one exists,
   * because a compaction did not end.
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

  /** Returns the records of the file of a worker, or of the daemon if `name` is empty. A missing file has no records. */
  async read(name: string): Promise<HistoryRecord[]> {
    return readRecords(await readOrEmpty(this.#fileOf(name))).records;
  }

  /** Replaces the file of a worker, unless `isWanted` returns false when its turn has come. Readers see the old or the new file. */
  write(name: string, records: readonly HistoryRecord[], isWanted: () => boolean): Promise<void> {
    return this.#inOrder(async () => {
      if (!isWanted()) return;
      const file = this.#fileOf(name);
      await mkdir(this.#workersDirectory, { recursive: true, mode: 0o700 });
      const unfinished = path.join(this.#directory, "unfinished");
      await writeFile(unfinished, Buffer.concat([fileStart, ...records.map(encodeRecord)]), { mode: 0o600 });
      await rename(unfinished, file);
    });
  }

  delete(name: string): Promise<void> {
    return this.#inOrder(() => rm(this.#fileOf(name), { force: true }));
  }

  /** Deletes the files of workers that were not written since `beforeMs` (Unix milliseconds) and that `isUsed` does not exclude. */
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

/** Returns the name of the worker of a file. Undefined for a file of another program. */
function workerOf(fileName: string): string | undefined {
  if (!fileName.endsWith(ending)) return undefined;
  try {
    return decodeURIComponent(fileName.slice(0, -ending.length));
  } catch {
    return undefined;
  }
}

/** Returns no bytes for a missing file, and for one that cannot be read: the history then continues without its rows. */
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
