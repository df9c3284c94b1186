import { appendFile, readFile, stat } from "node:fs/promises";
import * as z from "zod";
import type { CronRun } from "../../shared/contract/cron.js";
import type { Log } from "../log/log.js";
import { writePrivateFile } from "../platform/write-private-file.js";

/** Maximum number of ended runs that the daemon keeps for each cron job. Skipped runs count too. */
const keptRuns = 50;
/**
 * Maximum number of former cron jobs of a worker whose runs the daemon keeps. A former job is missing in the active version, but can exist
 * again after a rollback.
 */
const keptFormerJobs = 20;
/**
 * If the file exceeds this size in bytes and twice its size after the last rewrite, the daemon rewrites the file without discarded runs.
 */
const leastRewriteBytes = 1024 * 1024;

/**
 * A run as the file stores it. A run without `outcome` has started, but not ended. New fields must be optional, so that the daemon can
 * still read older files.
 */
const StoredRun = z.object({
  at: z.int(),
  trigger: z.enum(["schedule", "manual"]),
  by: z.string().optional(),
  version: z.string().optional(),
  durationMs: z.int().nullable().optional(),
  status: z.int().nullable().optional(),
  outcome: z.enum(["ok", "failed", "skipped"]).optional(),
  error: z.string().optional(),
});
type StoredRun = z.output<typeof StoredRun>;

/**
 * A line of the file contains a run, or records the deletion of a worker. If two lines contain runs with the same id, the later line
 * counts.
 */
const StoredLine = z.union([
  z.object({ worker: z.string(), job: z.string(), id: z.int().min(1), run: StoredRun }),
  z.object({ worker: z.string(), isDeleted: z.literal(true) }),
]);
type StoredLine = z.output<typeof StoredLine>;

/** Fields of a run that are known at its start. */
export type RunStart = Pick<StoredRun, "at" | "trigger" | "by" | "version">;
/** Fields of a run that are known at its end. */
export type RunEnd = Pick<CronRun, "durationMs" | "status" | "error"> & { readonly outcome: "ok" | "failed" };

/** The last runs of one cron job, from all versions of the worker. */
export class JobHistory {
  readonly #write: (id: number, run: StoredRun) => Promise<void>;
  readonly #nextId: () => number;
  /** Runs by id, in the order of their start. */
  readonly #runs = new Map<number, StoredRun>();
  #running: number | undefined;
  #hasSkipped = false;

  constructor(options: { write: (id: number, run: StoredRun) => Promise<void>; nextId: () => number }) {
    this.#write = options.write;
    this.#nextId = options.nextId;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The runs that have ended and the skipped runs, newest first. */
  get runs(): CronRun[] {
    return [...this.#runs.values()].flatMap(endedRun).toReversed();
  }

  /** The last run that has ended. Skipped runs do not count. */
  get lastRun(): CronRun | undefined {
    return this.runs.find(({ outcome }) => outcome !== "skipped");
  }

  /**
   * Records the start of a run. `stored` resolves when the start is in the file, or when the write has failed. `end` records the end and
   * returns the run. Must not be called while the job is running.
   */
  begin(start: RunStart): { stored: Promise<void>; end: (end: RunEnd) => CronRun } {
    const id = this.#nextId();
    this.#running = id;
    this.#hasSkipped = false;
    const stored = this.#note(id, start);
    const end = (ended: RunEnd): CronRun => {
      this.#running = undefined;
      void this.#note(id, { ...start, ...ended });
      return { ...start, ...ended };
    };
    return { stored, end };
  }

  /** Records that a run was skipped because the previous run had not ended. During one long run, records only the first skipped run. */
  skip(start: RunStart, error: string): void {
    if (this.#hasSkipped) return;
    this.#hasSkipped = true;
    void this.#note(this.#nextId(), { ...start, durationMs: null, status: null, outcome: "skipped", error });
  }

  /** Adds a run that was read from the file. */
  restore(id: number, run: StoredRun): void {
    this.#runs.set(id, run);
    this.#trim();
  }

  /**
   * Marks runs without a recorded end as failed, because the daemon stopped during these runs. Must be called after all lines of
   * the file are read.
   */
  failInterrupted(): void {
    for (const [id, run] of this.#runs)
      if (run.outcome === undefined) this.#runs.set(id, { ...run, outcome: "failed", error: "The daemon stopped during the run." });
  }

  *[Symbol.iterator](): Iterator<[number, StoredRun]> {
    yield* this.#runs;
  }

  #note(id: number, run: StoredRun): Promise<void> {
    this.#runs.set(id, run);
    this.#trim();
    return this.#write(id, run);
  }

  #trim(): void {
    const most = keptRuns + (this.isRunning ? 1 : 0);
    for (const id of this.#runs.keys()) {
      if (this.#runs.size <= most) return;
      if (id !== this.#running) this.#runs.delete(id);
    }
  }
}

function endedRun({ outcome, durationMs = null, status = null, ...run }: StoredRun): CronRun[] {
  return outcome === undefined ? [] : [{ ...run, durationMs, status, outcome }];
}

/**
 * The last runs of all cron jobs, in memory and in a file. The file has one line for each start and each end of a run. After a power
 * failure, the newest lines can be missing.
 */
export class CronRuns {
  readonly #file: string;
  readonly #log: Log;
  /** Histories of cron jobs by worker name, then by method and path of the job. */
  readonly #histories = new Map<string, Map<string, JobHistory>>();
  #lastId = 0;
  #waiting: string[] = [];
  /** The next write, which contains all waiting lines. Undefined if no line waits. */
  #scheduled: Promise<void> | undefined;
  #written = Promise.resolve();
  #sizeBytes = 0;
  #rewriteBytes = leastRewriteBytes;
  /** True if a crash can have left an incomplete line at the end of the file. */
  #isTorn = true;
  #isFailing = false;

  private constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
  }

  /** Reads the file if it exists. Skips incomplete lines that a crash left. */
  static async open({ file, log }: { file: string; log: Log }): Promise<CronRuns> {
    const runs = new CronRuns(file, log);
    await runs.#read();
    return runs;
  }

  /**
   * Returns the history of a cron job, and creates an empty history at the first call. `job`: method and path, which identify the job in
   * all versions of the worker.
   */
  historyOf(worker: string, job: string): JobHistory {
    const jobs = this.#histories.get(worker) ?? new Map<string, JobHistory>();
    this.#histories.set(worker, jobs);
    const existing = jobs.get(job);
    if (existing) return existing;
    const history: JobHistory = new JobHistory({
      nextId: () => (this.#lastId += 1),
      // Ignores a run that ends after the deletion of its worker. Otherwise the run would be in the history of a later worker with the same
      // name.
      write: async (id, run) => {
        if (this.#histories.get(worker)?.get(job) === history) await this.#append({ worker, job, id, run });
      },
    });
    jobs.set(job, history);
    return history;
  }

  /**
   * Discards the oldest histories of former jobs above `keptFormerJobs`. `declared`: the jobs of the active version, whose histories stay.
   */
  keep(worker: string, declared: ReadonlySet<string>): void {
    const jobs = this.#histories.get(worker);
    const former = [...(jobs ?? [])].filter(([job, history]) => !declared.has(job) && !history.isRunning);
    for (const [job] of former.slice(0, Math.max(0, former.length - keptFormerJobs))) jobs?.delete(job);
  }

  /** Discards the runs of a deleted worker. */
  forget(worker: string): void {
    if (this.#histories.delete(worker)) void this.#append({ worker, isDeleted: true });
  }

  /** Discards the runs of all workers that are not installed. */
  retain(isInstalled: (worker: string) => boolean): void {
    for (const worker of this.#histories.keys()) if (!isInstalled(worker)) this.forget(worker);
  }

  /** Resolves when all runs are in the file, or when the last write has failed. */
  async close(): Promise<void> {
    await this.#written;
  }

  async #read(): Promise<void> {
    const text = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") this.#log.warn({ err: error }, unreadable);
      return "";
    });
    for (const line of text.split("\n")) {
      const stored = parseLine(line);
      if (stored === undefined) continue;
      if ("isDeleted" in stored) this.#histories.delete(stored.worker);
      else {
        this.#lastId = Math.max(this.#lastId, stored.id);
        this.historyOf(stored.worker, stored.job).restore(stored.id, stored.run);
      }
    }
    for (const jobs of this.#histories.values()) for (const history of jobs.values()) history.failInterrupted();
    this.#sizeBytes = Buffer.byteLength(text);
  }

  /**
   * Appends a line to the file. Lines that arrive during a write are written together after this write. Resolves when the line is in the
   * file, or when its write has failed.
   */
  #append(line: StoredLine): Promise<void> {
    this.#waiting.push(`${JSON.stringify(line)}\n`);
    if (this.#scheduled) return this.#scheduled;
    this.#scheduled = this.#written.then(() => this.#writeWaiting());
    this.#written = this.#scheduled;
    return this.#written;
  }

  async #writeWaiting(): Promise<void> {
    this.#scheduled = undefined;
    const text = this.#waiting.join("");
    this.#waiting = [];
    try {
      await (this.#sizeBytes > this.#rewriteBytes ? this.#rewrite() : this.#appendText(text));
      this.#isFailing = false;
    } catch (error) {
      this.#isTorn = true;
      if (!this.#isFailing) this.#log.warn({ err: error }, unwritable);
      this.#isFailing = true;
    }
  }

  async #appendText(text: string): Promise<void> {
    // Writes a line break first, which ends a line that a crash or a failed write left incomplete.
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    await appendFile(this.#file, bytes, { mode: 0o600 });
    this.#isTorn = false;
    this.#sizeBytes += bytes.length;
  }

  /**
   * Replaces the file by a new file with all runs in memory. The waiting lines are not written again, because their runs are also in
   * memory.
   */
  async #rewrite(): Promise<void> {
    const lines: string[] = [];
    for (const [worker, jobs] of this.#histories)
      for (const [job, history] of jobs)
        for (const [id, run] of history) lines.push(`${JSON.stringify({ worker, job, id, run } satisfies StoredLine)}\n`);
    await writePrivateFile(this.#file, lines.join(""));
    this.#isTorn = false;
    this.#sizeBytes = (await stat(this.#file)).size;
    this.#rewriteBytes = Math.max(leastRewriteBytes, 2 * this.#sizeBytes);
  }
}

const unreadable = "the runs of cron jobs could not be read, and the daemon starts without them: check the permissions of cron-runs.jsonl";
const unwritable = "runs of cron jobs could not be written to disk: check the free space and the permissions of the state directory";

function parseLine(line: string): StoredLine | undefined {
  if (line === "") return undefined;
  try {
    return StoredLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
