import * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import { instanceNamePattern } from "../config/instance.js";
import type { Log } from "../log/log.js";
import type { LeaseStore } from "../storage/lease-store.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import { runRecordKinds } from "../storage/run-record-kinds.js";
import type { OwnInstance } from "./own-instance.js";

const { instance: instanceKind, drain: drainKind } = runRecordKinds;
/**
 * Interval at which a daemon checks in memory whether its row exists. The daemon writes the row only if the row is missing or belongs to
 * another run.
 */
const checkIntervalMs = 10_000;
/**
 * If a daemon has no heartbeats and its last start is at least this time in ms ago, another daemon deletes its row. The lease store keeps
 * heartbeats for the same time.
 */
const forgottenAfterMs = 86_400_000;

/** Form of the id of a daemon. Positions contain ids, so an id must not contain the separators of positions. */
const idPattern = /^[\w-]{1,64}$/;
/**
 * Time in ms after a failed request for heartbeats in which the registry treats all heartbeats as unknown without waiting. The time is
 * longer than the 1 to 5 s between two requests of a panel or dashboard.
 */
const unknownMemoryMs = 6_000;

/**
 * Maximum age in ms of heartbeats that a stream uses again. The age is short compared with the 30 s after which a daemon without heartbeats
 * counts as stopped.
 */
const heartbeatMemoryMs = 2_000;

const InstanceRow = z.object({
  name: z.string().regex(instanceNamePattern),
  run: z.string(),
  url: z.string().optional(),
  version: z.string().regex(/^[\w.+-]{1,64}$/),
  startedAtMs: z.number(),
});
/** The row contains the run of the daemon, because a drain ends when this run ends. */
const DrainRow = z.object({ run: z.string() });

/** A daemon that has stored its row in the records. `url` is unchecked. */
export interface RegisteredInstance extends z.output<typeof InstanceRow> {
  readonly id: string;
}

/** Returns whether a run of a daemon has sent a heartbeat within 30 s. */
type IsLive = (instance: Pick<RegisteredInstance, "id" | "run">) => boolean;

interface InstanceRegistryOptions {
  readonly own: OwnInstance;
  readonly records: RecordStore;
  readonly leases: LeaseStore;
  /** True if several daemons share the records. Otherwise the daemon stores no row, and lists only itself. */
  readonly isShared: boolean;
  readonly log: Log;
}

/**
 * The daemons with the same primary, from their records. A daemon changes its record only at its start, so running daemons cause no syncs
 * of replicas. The heartbeats are stored with the leases.
 */
export class InstanceRegistry {
  readonly #options: InstanceRegistryOptions;
  readonly #instances = new Map<string, RegisteredInstance & { readonly revision: number }>();
  /** Runs that an operator drains, by the id of the daemon. */
  readonly #drainedRuns = new Map<string, string>();
  readonly #stopFollowing: () => void;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<IsLive | undefined> | undefined;
  /** The last heartbeats. Undefined after a daemon has registered or was removed. `readAtMs` is on the clock of `performance.now()`. */
  #recent: { readonly isLive: IsLive; readonly readAtMs: number } | undefined;
  /** Runs of other daemons without a heartbeat within 30 s, as `ID/RUN`, at the last read of the heartbeats. */
  #goneRuns: ReadonlySet<string> = new Set();
  /** Increases with each registration or removal of a daemon. Heartbeats that were requested earlier are then not stored in `#recent`. */
  #changeCount = 0;
  /** Time on the clock of `performance.now()` until which the heartbeats count as unknown. */
  #unknownUntilMs = 0;
  #isDuplicateLogged = false;
  #isDraining = false;

  constructor(options: InstanceRegistryOptions) {
    this.#options = options;
    this.#stopFollowing = options.records.onChange((changed) => this.#apply(changed));
    this.#apply("all");
  }

  get own(): OwnInstance {
    return this.#options.own;
  }

  /** True if this daemon has a primary, so that further daemons can register at any time. */
  get isShared(): boolean {
    return this.#options.isShared;
  }

  /** True if an operator drains this daemon. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /**
   * Stores the row of this daemon in the background, and stores the row again if it disappears. Deletes rows of daemons that stopped long
   * ago.
   */
  start(): void {
    const register = async () => this.#register().catch(() => undefined);
    if (!this.#options.isShared) return void this.#endEarlierDrain().catch(() => undefined);
    void register().then(async () => this.#forgetStopped().catch(() => undefined));
    this.#timer = setInterval(() => void register(), checkIntervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopFollowing();
  }

  /**
   * Returns the other daemons, sorted by name and id. Stopped daemons stay in the list for at least 1 day. Returns an empty list without a
   * primary.
   */
  others(): RegisteredInstance[] {
    if (!this.#options.isShared) return [];
    const others = [...this.#instances.values()].filter(({ id }) => id !== this.own.id);
    return others.toSorted((one, other) => (`${one.name} ${one.id}` < `${other.name} ${other.id}` ? -1 : 1));
  }

  /**
   * Returns the daemon with this name or id. Of daemons with the same name, ignores replaced ones. Throws INSTANCE_NOT_FOUND if no daemon or
   * more than one daemon matches.
   */
  async get(nameOrId: string): Promise<RegisteredInstance> {
    const all = [this.own, ...this.others()];
    const withId = all.find(({ id }) => id === nameOrId);
    const named = withId ? [withId] : all.filter(({ name }) => name === nameOrId);
    if (named.length > 1) await this.readLive();
    const [found, ...further] = named.length > 1 ? named.filter((one) => !this.isReplaced(one)) : named;
    if (found && further.length === 0) return found;
    const quoted = JSON.stringify(nameOrId);
    throw new ApiError(
      "INSTANCE_NOT_FOUND",
      found
        ? `Several daemons have the name ${quoted}. Use the id of one of them: ${[found, ...further].map(({ id }) => id).join(", ")}.`
        : `No daemon has the name or id ${quoted}. Use a name or an id from: runtimectl instances list`,
    );
  }

  /**
   * Returns whether a daemon sent no heartbeat within 30 s and another daemon with its name did. Uses the last heartbeats that this daemon
   * has read.
   */
  isReplaced({ id, run, name }: Pick<RegisteredInstance, "id" | "run" | "name">): boolean {
    if (!this.#goneRuns.has(runKey({ id, run }))) return false;
    return [this.own, ...this.others()].some((other) => other.name === name && !this.#goneRuns.has(runKey(other)));
  }

  /**
   * Returns the other daemons that sent a heartbeat within 30 s. Uses heartbeats that were read within `maximumAgeMs`. Returns all others
   * if the primary does not respond. Later calls then do not wait while the registry asks the primary again.
   */
  async readLive({ maximumAgeMs = heartbeatMemoryMs } = {}): Promise<RegisteredInstance[]> {
    if (!this.#options.isShared) return [];
    if (this.#recent && performance.now() - this.#recent.readAtMs < maximumAgeMs) return this.others().filter(this.#recent.isLive);
    const reading = (this.#reading ??= this.#tryHeartbeats());
    const isUnknown = performance.now() < this.#unknownUntilMs;
    if (isUnknown) reading.catch(() => undefined);
    const isLive = isUnknown ? undefined : await reading;
    return isLive ? this.others().filter(isLive) : this.others();
  }

  /** Starts or ends the drain of a daemon. Throws KEY_STORE_UNAVAILABLE or INSUFFICIENT_STORAGE. */
  async setDraining({ id, run }: Pick<RegisteredInstance, "id" | "run">, isDraining: boolean): Promise<void> {
    const value = isDraining ? JSON.stringify({ run } satisfies z.output<typeof DrainRow>) : undefined;
    await this.#options.records.transact([{ kind: drainKind, key: id, value }]);
  }

  async #register(): Promise<void> {
    const { own, records, log } = this.#options;
    const { id, ...row } = own;
    const stored = this.#instances.get(id);
    if (stored?.run === own.run) return this.#endEarlierDrain();
    // Detects another running daemon with the same id: the stored run started later and sends heartbeats. A later start time alone proves
    // nothing, because the clock of that run was possibly wrong.
    if (stored && stored.startedAtMs > own.startedAtMs && (await this.#readHeartbeats())(stored)) {
      if (!this.#isDuplicateLogged)
        log.error(
          { id },
          "another daemon has the same id: delete the file instance-id in the state directory of one of them, and restart it",
        );
      this.#isDuplicateLogged = true;
      return;
    }
    const value = JSON.stringify(row satisfies z.input<typeof InstanceRow>);
    await records.transact([{ kind: instanceKind, key: id, value, ifRevision: stored?.revision ?? 0 }]);
    await this.#endEarlierDrain();
  }

  /** Reads the heartbeats. Resolves with undefined if the primary does not respond. */
  async #tryHeartbeats(): Promise<IsLive | undefined> {
    try {
      const changeCount = this.#changeCount;
      const isLive = await this.#readHeartbeats();
      this.#unknownUntilMs = 0;
      if (changeCount === this.#changeCount) this.#recent = { isLive, readAtMs: performance.now() };
      return isLive;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#unknownUntilMs = performance.now() + unknownMemoryMs;
      return undefined;
    } finally {
      this.#reading = undefined;
    }
  }

  /** Returns a function that returns whether a run has sent a heartbeat within 30 s. Throws KEY_STORE_UNAVAILABLE. */
  async #readHeartbeats(): Promise<IsLive> {
    const others = this.others();
    const heartbeats = await this.#options.leases.heartbeats();
    const live = new Set(heartbeats.filter(({ isLive }) => isLive).map(runKey));
    const isLive: IsLive = (instance) => live.has(runKey(instance));
    this.#goneRuns = new Set(others.filter((other) => !isLive(other)).map(runKey));
    return isLive;
  }

  async #endEarlierDrain(): Promise<void> {
    const { own } = this;
    const run = this.#drainedRuns.get(own.id);
    if (run !== undefined && run !== own.run) await this.setDraining(own, false);
  }

  async #forgetStopped(): Promise<void> {
    const { leases, records } = this.#options;
    const known = new Set((await leases.heartbeats()).map(({ id }) => id));
    const oldestMs = Date.now() - forgottenAfterMs;
    const stopped = [...this.#instances.values()].filter(({ id, startedAtMs }) => !known.has(id) && startedAtMs < oldestMs);
    await records.transact(
      stopped.flatMap(({ id: key, revision }): RecordChange[] => [
        { kind: instanceKind, key, value: undefined, ifRevision: revision },
        ...(this.#drainedRuns.has(key) ? [{ kind: drainKind, key, value: undefined }] : []),
      ]),
    );
  }

  #apply(changed: readonly StoredRecord[] | "all"): void {
    const { own, records, log } = this.#options;
    if (changed === "all") {
      this.#instances.clear();
      this.#drainedRuns.clear();
    }
    const rows = [instanceKind, drainKind].flatMap((kind) => changedOfKind(changed, kind, records));
    for (const { kind, key, value, revision } of rows) {
      if (kind === instanceKind) this.#applyInstance(key, parse(InstanceRow, value), revision);
      if (kind === drainKind) {
        const drained = parse(DrainRow, value);
        if (drained) this.#drainedRuns.set(key, drained.run);
        else this.#drainedRuns.delete(key);
      }
    }
    const isDraining = this.#drainedRuns.get(own.id) === own.run;
    if (isDraining !== this.#isDraining)
      log.info(isDraining ? "an operator drains this daemon" : "the operator ended the drain of this daemon");
    this.#isDraining = isDraining;
  }

  #applyInstance(id: string, row: z.output<typeof InstanceRow> | undefined, revision: number): void {
    if (row && idPattern.test(id)) this.#instances.set(id, { id, ...row, revision });
    else this.#instances.delete(id);
    this.#changeCount += 1;
    this.#recent = undefined;
  }
}

/** Returns a text that is unique for the run of a daemon. */
function runKey({ id, run }: Pick<RegisteredInstance, "id" | "run">): string {
  return `${id}/${run}`;
}

/**
 * Returns the content of a row. Returns undefined for a removed row, and for a row in an unknown form, for example from a newer version.
 */
function parse<Row>(schema: z.ZodType<Row>, value: string | undefined): Row | undefined {
  return value === undefined ? undefined : schema.safeParse(JSON.parse(value)).data;
}
