import { appendFile, readFile, stat } from "node:fs/promises";
import * as z from "zod";
import type { CronRun } from "../../shared/contract/cron.js";
import type { Log } from "../log/log.js";
import { writePrivateFile } from "../platform/write-private-file.js";

/** Number of runs per job that the daemon keeps after their end. Skipped runs count too. */
const keptRuns = 50;
/**
 * Number of jobs per worker whose runs the daemon keeps although the active version has no such job. After a rollback, the worker can have
 * the job again.
 */
const keptFormerJobs = 20;
/** Size in bytes from which the daemon rewrites the file. The file must also be twice as large as after the last rewrite. */
const leastRewriteBytes = 1024 * 1024;

/**
 * A run in the form of the file. A run without `outcome` has started, but not ended. New fields must be optional, so that older files stay
 * valid.
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

/** A line of the file: a run, or the deletion of a worker. A run replaces an earlier line with the same id. */
const StoredLine = z.union([
  z.object({ worker: z.string(), job: z.string(), id: z.int().min(1), run: StoredRun }),
  z.object({ worker: z.string(), isDeleted: z.literal(true) }),
]);
type StoredLine = z.output<typeof StoredLine>;

/** Fields of a run that are known at its start. */
export type RunStart = Pick<StoredRun, "at" | "trigger" | "by" | "version">;
/** Fields of a run that are known at its end. */
export type RunEnd = Pick<CronRun, "durationMs" | "status" | "outcome" | "error">;

/** The last runs of one cron job, across versions of its worker. */
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
   * returns the run. The job must not be running.
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

  /** Records a run that is skipped because the job still runs. If one run causes several skipped runs, keeps only the first of them. */
  skip(start: RunStart, error: string): void {
    if (this.#hasSkipped) return;
    this.#hasSkipped = true;
    void this.#note(this.#nextId(), { ...start, durationMs: null, status: null, outcome: "skipped", error });
  }

  /** Adds a run from the file. */
  restore(id: number, run: StoredRun): void {
    this.#runs.set(id, run);
    this.#trim();
  }

  /** Marks the runs without an end as failed. Call it after the file is read. */
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
  /** Job histories by worker, then by job. */
  readonly #histories = new Map<string, Map<string, JobHistory>>();
  #lastId = 0;
  #waiting: string[] = [];
  /** The write of the waiting lines. It begins when `#written` resolves. */
  #scheduled: Promise<void> | undefined;
  #written = Promise.resolve();
  #sizeBytes = 0;
  #rewriteBytes = leastRewriteBytes;
  /** True if the file possibly ends with an incomplete line. */
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

  /** Returns the history of a job. `job` is the same text in all versions of the worker. */
  historyOf(worker: string, job: string): JobHistory {
    const jobs = this.#histories.get(worker) ?? new Map<string, JobHistory>();
    this.#histories.set(worker, jobs);
    const existing = jobs.get(job);
    if (existing) return existing;
    const history: JobHistory = new JobHistory({
      nextId: () => (this.#lastId += 1),
      // Ignores a run that ends after the deletion of its worker. Otherwise the run would appear in the history of a later worker with the
      // same name.
      write: async (id, run) => {
        if (this.#histories.get(worker)?.get(job) === history) await this.#append({ worker, job, id, run });
      },
    });
    jobs.set(job, history);
    return history;
  }

  /** Discards the oldest histories of jobs that the active version of the worker no longer has. */
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

  /** Resolves when all runs are in the file. */
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
   * Appends a line. All lines that wait for the current write are written together. Resolves when the line is in the file, or when the
   * write has failed.
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
    // Writes a line break first, which ends a line that a crash left incomplete.
    const bytes = Buffer.from(this.#isTorn ? `\n${text}` : text);
    await appendFile(this.#file, bytes, { mode: 0o600 });
    this.#isTorn = false;
    this.#sizeBytes += bytes.length;
  }

  /** Replaces the file by a file with the runs in memory, which include all waiting lines. */
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
