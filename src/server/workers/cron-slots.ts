import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Cron } from "croner";
import * as z from "zod";
import type { Log } from "../log/log.js";
import type { Lease, LeaseResult, LeaseRequest, LeaseStore, MissedLease } from "../storage/lease-store.js";

/** Interval of heartbeats in ms. At each heartbeat, the daemon also records slots that no daemon took. */
const settleIntervalMs = 10_000;
/**
 * Pause in ms per rank before a daemon requests the lease. Usually the daemon with rank 0 then gets the lease, and the other daemons find
 * it granted.
 */
const rankPauseMs = 150;
const longestRankPauseMs = 1_500;
/**
 * Age of a slot in ms after which no daemon can take it. Exceeds the tolerance of the lease store (5 s) plus the time limit of a request (2
 * s).
 */
const missedAfterMs = 10_000;
/** Maximum time in ms after a request without a response during which the primary can still accept this request. */
const unansweredMs = 2_000;
/** Number of newest slots per job that the daemon checks. The lease store keeps the same number of leases per job. */
const checkedSlots = 50;
/** Maximum number of ended runs that the daemon keeps while the primary has not confirmed them. */
const mostEnds = 1_000;

/** JSON in a lease of a cron job. */
const SlotDetail = z.object({ worker: z.string(), version: z.string(), schedule: z.string() });
type SlotDetail = z.output<typeof SlotDetail>;

/** A job that runs on only one of several daemons at each time of its schedule. */
export interface SlotJob extends SlotDetail {
  /** Text that identifies the job. The text is the same in all versions of the worker and on all daemons. */
  readonly queue: string;
  readonly cron: Pick<Cron, "nextRun" | "previousRuns">;
}

/** Result of a slot that this daemon has taken. The lease store keeps `result` as JSON. */
export interface SlotEnd {
  readonly state: "ran" | "skipped";
  readonly result: object;
}

interface PendingEnd {
  readonly token: string;
  readonly end: SlotEnd;
  /**
   * Earliest time to send the end, by the clock of `performance.now()`. Until then, the primary can still accept a lease request that got
   * no response.
   */
  readonly notBeforeMs: number;
}

interface Watched {
  readonly job: SlotJob;
  /**
   * The daemon has checked the slots up to this time (Unix ms): each has a lease. Undefined until the first check after the start of the
   * daemon.
   */
  checkedUntilMs: number | undefined;
}

interface CronSlotsOptions {
  readonly leases: LeaseStore;
  /** Id of this daemon in the heartbeats. */
  readonly instanceId: string;
  /** Returns true while an operator drains this daemon. The daemon then takes no slots. */
  readonly isDraining: () => boolean;
  /** Called for a slot whose daemon stopped before or during the run. */
  readonly onUnknown: (slot: SlotDetail & { readonly instance: string; readonly slotMs: number }) => void;
  readonly log: Log;
  /** Resolves after a time in ms. Only tests set this function. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Decides with leases which of several daemons runs a cron job at a time of its schedule. A slot is one such time. */
export class CronSlots {
  readonly #options: CronSlotsOptions;
  readonly #watched = new Map<string, Watched>();
  /** Ends of runs that the lease store has not confirmed yet, by the name of the slot. */
  readonly #ends = new Map<string, PendingEnd>();
  /** Deleted workers whose leases remain, with the time of the deletion in Unix milliseconds. */
  readonly #forgotten = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  #live: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #settling: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: CronSlotsOptions) {
    this.#options = options;
  }

  /** Sends heartbeats from now on. For jobs that are already watched, records the missed slots since their newest lease. */
  start(): void {
    const settle = () => void (this.#settling = this.#settling.then(() => this.settle()));
    settle();
    this.#timer = setInterval(settle, settleIntervalMs).unref();
  }

  /**
   * Starts to record the missed slots of a job. Continues after the last check if the job was already watched with the same schedule.
   * Otherwise begins now or, before `start`, after the newest lease.
   */
  watch(job: SlotJob): void {
    const previous = this.#watched.get(job.queue);
    const isSame = previous?.job.schedule === job.schedule;
    const newMs = this.#timer === undefined ? undefined : Date.now();
    this.#watched.set(job.queue, { job, checkedUntilMs: isSame ? previous.checkedUntilMs : newMs });
  }

  unwatch(queue: string): void {
    this.#watched.delete(queue);
  }

  /**
   * Runs `work` if this daemon gets the slot, and records the end. Calls `onBlocked` if the previous run of the job is still in progress on
   * one of the daemons. Never throws.
   */
  async run(job: SlotJob, slotMs: number, { work, onBlocked }: { work: () => Promise<SlotEnd>; onBlocked: () => void }): Promise<void> {
    const name = nameOf(job.queue, slotMs);
    const request = { name, queue: job.queue, slotMs, token: randomUUID(), detail: detailOf(job) };
    const takeAndWork = async (): Promise<void> => {
      const answer = await this.#take(request, this.#rankOf(name));
      if (answer === "blocked") onBlocked();
      if (answer === "mine") await this.#end(name, request.token, await work());
    };
    const running = takeAndWork();
    this.#running.add(running);
    await running.finally(() => this.#running.delete(running));
  }

  /** Returns the newest leases of each job. Throws KEY_STORE_UNAVAILABLE. */
  async list(queues: readonly string[], limit: number): Promise<ReadonlyMap<string, readonly Lease[]>> {
    if (queues.length === 0) return new Map();
    return Map.groupBy(await this.#options.leases.list(queues, limit), ({ queue }) => queue);
  }

  /** Deletes the leases of a deleted worker with the next heartbeats. A new worker with this name keeps its leases. */
  forget(worker: string): void {
    this.#forgotten.set(worker, Date.now());
  }

  /** Sends a heartbeat, the ends of runs and the missed slots. After a failure, the next heartbeat sends them again. */
  async settle(): Promise<void> {
    const { leases, onUnknown, log } = this.#options;
    try {
      const untilMs = leases.nowMs() - missedAfterMs;
      const { unknown, liveInstances } = await leases.settle(await this.#missed(untilMs));
      this.#live = liveInstances;
      this.#isFailing = false;
      for (const watched of this.#watched.values()) watched.checkedUntilMs = Math.max(untilMs, watched.checkedUntilMs ?? 0);
      for (const lease of unknown) {
        const detail = parseDetail(lease.detail);
        if (detail) onUnknown({ ...detail, instance: lease.instance, slotMs: lease.slotMs });
      }
      await this.#sendEnds();
      for (const [worker, forgottenMs] of this.#forgotten) {
        await leases.forget(queueOf(worker, ""), forgottenMs);
        if (forgottenMs < untilMs) this.#forgotten.delete(worker);
      }
    } catch (error) {
      if (!this.#isFailing)
        log.warn(
          { err: error },
          "cron jobs with `on: one` do not run, because the primary of the key store does not respond: check the primary",
        );
      this.#isFailing = true;
    }
  }

  /** Sends the ends of all runs and leaves the lease store. Also resolves if this fails. Call it after the last run has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.allSettled([this.#settling, ...this.#running]);
    await this.#sendEnds()
      .then(() => this.#options.leases.leave())
      .catch(() => undefined);
  }

  /** Returns the position of this daemon among the live daemons. The order differs for each slot. */
  #rankOf(name: string): number {
    const { instanceId } = this.#options;
    const weightOf = (id: string) => createHash("sha256").update(`${id} ${name}`).digest("hex");
    return this.#live.filter((id) => id !== instanceId && weightOf(id) < weightOf(instanceId)).length;
  }

  async #take(request: LeaseRequest, rank: number): Promise<LeaseResult> {
    const { leases, pause = delay } = this.#options;
    await pause(Math.min(rank * rankPauseMs, longestRankPauseMs));
    if (this.#isClosed || this.#options.isDraining()) return "late";
    const take = async () => (rank > 0 && (await leases.has(request.name)) ? "taken" : await leases.take(request));
    // Repeats a failed request once, with the same token. If the response to the first request was lost, the second request receives the
    // same response.
    return take()
      .catch(() => leases.take(request))
      .catch(() => {
        const end: SlotEnd = { state: "skipped", result: { error: "The primary of the key store did not confirm the run." } };
        this.#keepEnd(request.name, { token: request.token, end, notBeforeMs: performance.now() + unansweredMs });
        return "late" as const;
      });
  }

  async #end(name: string, token: string, end: SlotEnd): Promise<void> {
    this.#keepEnd(name, { token, end, notBeforeMs: 0 });
    await this.#sendEnds().catch(() => undefined);
  }

  /**
   * Keeps the end of a run until the primary confirms it. Above the maximum, first discards an end whose lease request had no response.
   * Chooses one from the middle of an outage, because that request probably did not reach the primary.
   */
  #keepEnd(name: string, pending: PendingEnd): void {
    this.#ends.set(name, pending);
    if (this.#ends.size <= mostEnds) return;
    const names = [...this.#ends.keys()];
    const isUnconfirmed = (key: string) => (this.#ends.get(key)?.notBeforeMs ?? 0) > 0;
    this.#ends.delete(names.slice(mostEnds / 2).find(isUnconfirmed) ?? (names[0] as string));
  }

  async #sendEnds(): Promise<void> {
    for (const [name, { token, end, notBeforeMs }] of this.#ends) {
      if (performance.now() < notBeforeMs) continue;
      await this.#options.leases.end(name, token, end.state, JSON.stringify(end.result));
      this.#ends.delete(name);
    }
  }

  /** Returns the slots without a lease, up to the time `untilMs`. */
  async #missed(untilMs: number): Promise<MissedLease[]> {
    const isDue = ({ job, checkedUntilMs }: Watched) =>
      checkedUntilMs === undefined || (job.cron.nextRun(new Date(checkedUntilMs))?.getTime() ?? Infinity) <= untilMs;
    const due = [...this.#watched.values()].filter(isDue);
    const known = await this.list(
      due.map(({ job }) => job.queue),
      checkedSlots,
    );
    return due.flatMap(({ job, checkedUntilMs }) => {
      const leases = known.get(job.queue) ?? [];
      const fromMs = checkedUntilMs ?? sameSince(leases.slice(0, checkedSlots), job.schedule) ?? untilMs;
      const names = new Set(leases.map(({ name }) => name));
      const slots = job.cron.previousRuns(checkedSlots, new Date(untilMs + 1)).map((slot) => slot.getTime());
      return slots
        .filter((slotMs) => slotMs > fromMs && !names.has(nameOf(job.queue, slotMs)))
        .map((slotMs) => ({ name: nameOf(job.queue, slotMs), queue: job.queue, slotMs, detail: detailOf(job) }));
    });
  }
}

/**
 * Returns the queue of a job. `key` is the same in all versions of the worker. An empty key gives the common prefix of all queues of the
 * worker.
 */
export function queueOf(worker: string, key: string): string {
  return `cron ${worker} ${key}`;
}

function nameOf(queue: string, slotMs: number): string {
  return `${queue} ${new Date(slotMs).toISOString()}`;
}

function detailOf({ worker, version, schedule }: SlotJob): string {
  return JSON.stringify({ worker, version, schedule } satisfies SlotDetail);
}

/** Returns the JSON of a lease, or undefined for JSON of another form, such as the JSON of a newer version of the daemon. */
export function parseDetail(text: string): SlotDetail | undefined {
  return SlotDetail.safeParse(JSON.parse(text)).data;
}

/**
 * Returns the slot time of the oldest lease since which all leases have the schedule `schedule`. `leases` is sorted newest first. Returns
 * undefined if the newest lease has another schedule.
 */
function sameSince(leases: readonly Lease[], schedule: string): number | undefined {
  const other = leases.findIndex(({ detail }) => parseDetail(detail)?.schedule !== schedule);
  return leases.slice(0, other === -1 ? undefined : other).at(-1)?.slotMs;
}
