import { appendFile, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { LogEntry } from "../../../shared/contract/worker-logs.js";
import { makeSubdirectory } from "../../platform/make-directory.js";
import { linesFromEnd } from "./lines-from-end.js";

const currentEnding = ".jsonl";
const previousEnding = ".previous.jsonl";

interface LogFilesOptions {
  /** Directory that contains the log files. Created on first use, with mode 0700. */
  readonly directory: string;
  /** Maximum total size of the log files of one worker. */
  readonly bytesPerWorker: number;
}

interface Wanted {
  readonly limit: number;
  readonly leastId: number;
}

/**
 * The log entries of each worker on the disk, one JSON line per entry. Each worker has a current and a previous file. Each file has at most
 * half of `bytesPerWorker`. Operations on the same worker wait for each other.
 */
export class LogFiles {
  readonly #options: LogFilesOptions;
  /** The last operation on the files of each worker, by worker name. The next operation waits for it. */
  readonly #calls = new Map<string, Promise<unknown>>();
  /** Names of the workers for which this process has appended entries. */
  readonly #appended = new Set<string>();

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  /**
   * Appends entries in the order of their ids. Rejects with the error of the file system. Some of the entries are then possibly written.
   */
  append(name: string, entries: readonly LogEntry[]): Promise<void> {
    return this.#inOrder(name, async () => {
      const { current, previous } = this.#filesOf(name);
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      await makeSubdirectory(this.#options.directory, 0o700);
      const currentBytes = await sizeOf(current);
      if (currentBytes > 0 && currentBytes + Buffer.byteLength(text) > this.#options.bytesPerWorker / 2) await rename(current, previous);
      // Writes a line break first, which ends a line that a crash left incomplete.
      const isFirst = !this.#appended.has(name);
      this.#appended.add(name);
      await appendFile(current, isFirst ? `\n${text}` : text, { mode: 0o600 });
    });
  }

  /**
   * Returns the newest matching entries whose id is at least `leastId`, oldest first. Returns at most `limit` entries. Skips incomplete
   * lines that a crash left.
   */
  read(name: string, passes: (entry: LogEntry) => boolean, { limit, leastId }: Wanted): Promise<LogEntry[]> {
    return this.#inOrder(name, async () => {
      const { current, previous } = this.#filesOf(name);
      const newest = await newestOf(current, passes, { limit, leastId });
      if (newest.length === limit) return newest;
      return [...(await newestOf(previous, passes, { limit: limit - newest.length, leastId })), ...newest];
    });
  }

  /** Returns each worker with log files and the Unix time in ms of their last change. The worker with the last change comes first. */
  async list(): Promise<{ name: string; modifiedMs: number }[]> {
    const fileNames = await readdir(this.#options.directory).catch(orWhenMissing([]));
    const modified = new Map<string, number>();
    const noteFile = async (fileName: string): Promise<void> => {
      const name = workerOf(fileName);
      if (name === undefined) return;
      const { mtimeMs } = await stat(path.join(this.#options.directory, fileName)).catch(orWhenMissing({ mtimeMs: 0 }));
      modified.set(name, Math.max(mtimeMs, modified.get(name) ?? 0));
    };
    await Promise.all(fileNames.map(noteFile));
    return [...modified].map(([name, modifiedMs]) => ({ name, modifiedMs })).toSorted((one, other) => other.modifiedMs - one.modifiedMs);
  }

  delete(name: string): Promise<void> {
    return this.#inOrder(name, async () => {
      for (const file of Object.values(this.#filesOf(name))) await rm(file, { force: true });
    });
  }

  #filesOf(name: string): { current: string; previous: string } {
    const base = path.join(this.#options.directory, encodeURIComponent(name));
    return { current: base + currentEnding, previous: base + previousEnding };
  }

  #inOrder<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    const result = (this.#calls.get(name) ?? Promise.resolve()).then(call, call);
    this.#calls.set(name, result);
    const forget = (): void => void (this.#calls.get(name) === result && this.#calls.delete(name));
    result.then(forget, forget);
    return result;
  }
}

/** Returns the worker name that a file name contains. Returns undefined if another program created the file. */
function workerOf(fileName: string): string | undefined {
  const ending = [previousEnding, currentEnding].find((one) => fileName.endsWith(one));
  if (ending === undefined) return undefined;
  try {
    return decodeURIComponent(fileName.slice(0, -ending.length));
  } catch {
    return undefined;
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(orWhenMissing({ size: 0 }))).size;
}

/** Returns an error handler that returns `value` for a missing file or folder, and rethrows other errors. */
function orWhenMissing<Value>(value: Value): (error: NodeJS.ErrnoException) => Value {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}

/**
 * Returns the newest matching entries of a file, oldest first. Reads backward until an id is below `leastId`, or until `limit` entries are
 * found.
 */
async function newestOf(file: string, passes: (entry: LogEntry) => boolean, { limit, leastId }: Wanted): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const lines of linesFromEnd(file))
    for (const line of lines) {
      const entry = parseLine(line);
      if (!entry) continue;
      if (entry.id < leastId || entries.length === limit) return entries.toReversed();
      if (passes(entry)) entries.push(entry);
    }
  return entries.toReversed();
}

/** Parses a line of a log file. Returns undefined if the line is incomplete or another program wrote it. */
function parseLine(line: string): LogEntry | undefined {
  try {
    return LogEntry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
