import { appendFile, mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { LogEntry } from "../../../shared/contract/worker-logs.js";

/** Lines parsed in one turn of the event loop. */
const linesPerTurn = 1000;

interface LogFilesOptions {
  /** Created on first use, with mode 0700. */
  readonly directory: string;
  /** Limit of the files of one worker together. */
  readonly bytesPerWorker: number;
}

/**
 * The log entries of each worker on disk, one JSON document per line. Each worker has a current and a previous file of at most half the
 * limit. Calls for one worker run one after another.
 */
export class LogFiles {
  readonly #options: LogFilesOptions;
  /** The last call of each worker. */
  readonly #calls = new Map<string, Promise<unknown>>();
  /** Workers that this process has appended entries for. */
  readonly #appended = new Set<string>();

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  /** Appends entries, in the order of their ids. Rejects with the error of the file system; then a part may be written. */
  append(name: string, entries: readonly LogEntry[]): Promise<void> {
    return this.#inOrder(name, async () => {
      const { current, previous } = this.#filesOf(name);
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
      const currentBytes = await sizeOf(current);
      if (currentBytes > 0 && currentBytes + Buffer.byteLength(text) > this.#options.bytesPerWorker / 2) await rename(current, previous);
      // The line break ends a line that a crash left incomplete.
      const isFirst = !this.#appended.has(name);
      this.#appended.add(name);
      await appendFile(current, isFirst ? `\n${text}` : text, { mode: 0o600 });
    });
  }

  /** Returns the newest matching entries, oldest first. Skips lines that a crash left incomplete. */
  read(name: string, passes: (entry: LogEntry) => boolean, limit: number): Promise<LogEntry[]> {
    return this.#inOrder(name, async () => {
      const { current, previous } = this.#filesOf(name);
      const newest = await newestOf(current, passes, limit);
      if (newest.length === limit) return newest;
      return [...(await newestOf(previous, passes, limit - newest.length)), ...newest];
    });
  }

  delete(name: string): Promise<void> {
    return this.#inOrder(name, async () => {
      for (const file of Object.values(this.#filesOf(name))) await rm(file, { force: true });
    });
  }

  #filesOf(name: string): { current: string; previous: string } {
    const base = path.join(this.#options.directory, encodeURIComponent(name));
    return { current: `${base}.jsonl`, previous: `${base}.previous.jsonl` };
  }

  #inOrder<Result>(name: string, call: () => Promise<Result>): Promise<Result> {
    const result = (this.#calls.get(name) ?? Promise.resolve()).then(call, call);
    this.#calls.set(name, result);
    const forget = (): void => void (this.#calls.get(name) === result && this.#calls.delete(name));
    result.then(forget, forget);
    return result;
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

async function newestOf(file: string, passes: (entry: LogEntry) => boolean, limit: number): Promise<LogEntry[]> {
  const lines = (await textOf(file)).split("\n");
  const entries: LogEntry[] = [];
  for (let index = lines.length - 1; index >= 0 && entries.length < limit; index -= 1) {
    const entry = parseLine(lines[index] as string);
    if (entry && passes(entry)) entries.push(entry);
    if (index % linesPerTurn === 0) await turn();
  }
  return entries.toReversed();
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Returns the entry of a line. Undefined for a line that is incomplete or was written by another program. */
function parseLine(line: string): LogEntry | undefined {
  try {
    return LogEntry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
