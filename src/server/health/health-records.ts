import { readFile } from "node:fs/promises";
import * as z from "zod";
import { writePrivateFile } from "../platform/write-private-file.js";

/** Time in ms in which the daemon collects changes before it writes the file. */
const writeDelayMs = 1000;

/** A state that is neither `ok` nor `idle`, with its start. New fields must be optional, so that the daemon can still read older files. */
const HealthRecord = z.object({
  /** The active version. Missing if no version was active. */
  version: z.string().optional(),
  state: z.string(),
  /** Unix time in milliseconds at which the state began. */
  sinceMs: z.number(),
  /** True if the state began at an unknown time before `sinceMs`, because it already existed when the daemon started. */
  isSinceStart: z.boolean().optional(),
  /** Unix time in milliseconds at which the version of a worker became active. */
  activeSinceMs: z.number().optional(),
  /** True if the worker already had a problem when the version became active. */
  hadProblem: z.boolean().optional(),
});
export type HealthRecord = z.output<typeof HealthRecord>;

const StoredRecords = z.object({ workers: z.record(z.string(), HealthRecord), plugins: z.record(z.string(), HealthRecord) });

interface HealthRecordsOptions {
  readonly file: string;
  readonly log: { warn(fields: object, text: string): void };
}

/** Stores in a file when the states of workers and plugins began. A restart of the daemon does not lose these times. */
export class HealthRecords {
  readonly workers = new Map<string, HealthRecord>();
  readonly plugins = new Map<string, HealthRecord>();
  readonly #options: HealthRecordsOptions;
  #timer: NodeJS.Timeout | undefined;
  #written = Promise.resolve();
  #isFailing = false;

  private constructor(options: HealthRecordsOptions) {
    this.#options = options;
  }

  /** Reads the file. Logs a warning and starts without records if the file is unreadable. */
  static async open(options: HealthRecordsOptions): Promise<HealthRecords> {
    const records = new HealthRecords(options);
    try {
      const stored = StoredRecords.parse(JSON.parse(await readFile(options.file, "utf8")));
      for (const [name, record] of Object.entries(stored.workers)) records.workers.set(name, record);
      for (const [name, record] of Object.entries(stored.plugins)) records.plugins.set(name, record);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") options.log.warn({ err: error }, unreadable);
    }
    return records;
  }

  /** Stores the record of a worker or plugin, or deletes it if `record` is undefined. */
  put(kind: "workers" | "plugins", name: string, record: HealthRecord | undefined): void {
    const records = this[kind];
    if (record === undefined) {
      if (!records.delete(name)) return;
    } else records.set(name, record);
    this.#timer ??= setTimeout(() => this.#write(), writeDelayMs).unref();
  }

  /** Deletes the records of workers or plugins that are not installed. */
  retain(kind: "workers" | "plugins", isInstalled: (name: string) => boolean): void {
    for (const name of this[kind].keys()) if (!isInstalled(name)) this.put(kind, name, undefined);
  }

  /** Resolves when all changes are in the file, or when the last write has failed. */
  async close(): Promise<void> {
    if (this.#timer) this.#write();
    await this.#written;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#writeNow());
  }

  async #writeNow(): Promise<void> {
    const { file, log } = this.#options;
    const text = JSON.stringify({ workers: Object.fromEntries(this.workers), plugins: Object.fromEntries(this.plugins) });
    try {
      await writePrivateFile(file, `${text}\n`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, unwritable);
      this.#isFailing = true;
    }
  }
}

const unreadable = "the starts of health states could not be read, and the daemon starts without them: delete health-states.json";
const unwritable =
  "the starts of health states could not be written to disk: check the free space and the permissions of the state directory";
