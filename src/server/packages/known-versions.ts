import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import type { Log } from "../observe/log.js";
import { compiledFile, packageVersion } from "../package-root.js";
import type { WorkerVersion } from "./worker-version.js";

/** After a change more are likely to follow. */
const saveDelayMs = 2000;

type Entry = readonly [identity: string, version: WorkerVersion];

/**
 * What the metadata of versions said, kept in a file for the next start: with thousands of workers, parsing takes longer than all the
 * rest. An entry counts only for a folder whose identity is the same; the file is believed only as this very program wrote it.
 */
export class KnownVersions {
  readonly #file: string | undefined;
  readonly #log: Log;
  /** From earlier, and what this daemon has seen. */
  readonly #before: ReadonlyMap<string, Entry>;
  readonly #current = new Map<string, Entry>();
  #isSaved = true;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file nothing is kept. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
    this.#before = options.file === undefined ? new Map() : readEntries(options.file);
  }

  /** What is known of a folder with this identity, else what `read` finds; `isSettled` = no later change can have the same identity. */
  recall(
    folder: string,
    { identity, isSettled }: { identity: string; isSettled: boolean },
    read: () => WorkerVersion | undefined,
  ): WorkerVersion | undefined {
    const entry = this.#current.get(folder) ?? this.#before.get(folder);
    if (entry?.[0] === identity) {
      this.#current.set(folder, entry);
      return entry[1];
    }
    const version = read();
    if (version && isSettled) this.#current.set(folder, [identity, version]);
    else this.#current.delete(folder);
    this.#saveSoon();
    return version;
  }

  forget(folder: string): void {
    if (this.#current.delete(folder)) this.#saveSoon();
  }

  /** Writes what is not written yet. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === undefined || this.#isSaved) return;
    this.#isSaved = true;
    const text = JSON.stringify([...this.#current]);
    await writeFileAtomic(this.#file, `${seal(text)}\n${text}`, { mode: 0o600, fsync: false }).catch((error: unknown) =>
      this.#log.warn({ err: error }, "what is known of the installed workers could not be kept; the next start reads it again"),
    );
  }

  #saveSoon(): void {
    this.#isSaved = false;
    if (this.#file !== undefined) this.#timer ??= setTimeout(() => void this.save(), saveDelayMs).unref();
  }
}

function readEntries(file: string): Map<string, Entry> {
  try {
    const content = readFileSync(file, "utf8");
    const end = content.indexOf("\n");
    const text = content.slice(end + 1);
    return content.slice(0, end) === seal(text) ? new Map(JSON.parse(text) as [string, Entry][]) : new Map();
  } catch {
    // Not there, or not readable: then all is read from the folders.
    return new Map();
  }
}

/** Differs for every damage, and for every build of this program. */
function seal(text: string): string {
  const { mtimeMs, size } = statSync(compiledFile("server/main.js"), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return createHash("sha256").update(`${packageVersion}:${mtimeMs}:${size}\n${text}`).digest("hex");
}
