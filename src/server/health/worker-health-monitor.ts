import type { NewEvent } from "../events/runtime-events.js";
import type { WorkerHealth, WorkerState } from "../../shared/contract/worker-health.js";
import type { LogEntry } from "../../shared/contract/worker-logs.js";
import { newestFirst, versionBefore } from "../../shared/worker-versions.js";
import { assessWorker, type Assessment } from "./assess-worker.js";
import type { HealthRecord, HealthRecords } from "./health-records.js";
import { ObservedVersion, usualP99, type ActiveVersion, type ObservedMeter } from "./observed-worker.js";
import { sampleEveryMs } from "./request-window.js";

/** If a problem begins within this time in ms after a version became active, the daemon reports this version as the suspected cause. */
const suspectMs = 30 * 60_000;

/**
 * States with a problem. If a worker is already in one of these states when a version becomes active, the daemon does not suspect this
 * version.
 */
const problemStates: ReadonlySet<string> = new Set(["failing", "backoff", "degraded"]);
/**
 * Time in ms after the start of the daemon in which a problem counts as a continuation of a stored state "degraded". A running daemon also
 * ends this state after one minute without requests.
 */
const degradedMemoryMs = 60_000;
/** The monitor publishes no change between these states. Such a change only reflects traffic, and its event would displace other events. */
const quietStates: ReadonlySet<WorkerState> = new Set(["ok", "idle"]);

/** An installed version of a worker. `problem`: the reason why the version cannot become active. */
interface InstalledVersion {
  readonly version: string;
  readonly source: "built-in" | "uploaded";
  readonly enabled: boolean;
  readonly problem?: string;
}

/** A failure of a worker version. `restMs`: after repeated crashes, the time in ms until the next start. */
interface Trouble {
  readonly name: string;
  readonly version: string;
  readonly kind: "crashed" | "start-failed" | "backoff" | "data-full";
  readonly message: string;
  readonly restMs?: number | undefined;
}

/** The data from which the monitor computes states, and its clocks. */
export interface WorkerHealthSources {
  /** Returns the request counters of a version. Returns undefined before the first request to this version. */
  readonly meterOf: (name: string, version: string) => ObservedMeter | undefined;
  /** Returns the installed versions of a worker, including disabled versions. Returns an empty list if the worker is not installed. */
  readonly versionsOf: (name: string) => readonly InstalledVersion[];
  /** Returns the names of the workers whose data folder is full. */
  readonly fullDataNames: () => readonly string[];
  /** If the last run of one of the worker's cron jobs failed, returns one sentence about this job. */
  readonly cronFailureOf: (name: string) => string | undefined;
  /** The states that the daemon stored before its last stop. */
  readonly records: Pick<HealthRecords, "workers" | "put" | "retain">;
  readonly publish: (event: NewEvent) => void;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
  /** Returns the time in milliseconds on the clock of `performance.now()`. */
  readonly monotonicNow: () => number;
}

interface ObservedWorker {
  readonly name: string;
  /** The active version. Undefined if no version is active. */
  readonly current: ObservedVersion | undefined;
  /** True if the worker already had a problem when its current version became active, or if its data folder was full since then. */
  hadProblem: boolean;
  state: WorkerState | undefined;
  /** Unix time in milliseconds at which the current state of the worker began. */
  stateSinceMs: number;
  /** True if the state began before the daemon started, at an unknown time. */
  isSinceStart: boolean;
  /** The state that an earlier daemon process stored for the same version. Undefined after the state was `ok`. */
  remembered: HealthRecord | undefined;
}

/**
 * Computes the state of each worker, and publishes the event `worker.health` when a state changes. Reads the counters of active versions
 * every 5 s, and at each call of `read`.
 */
export class WorkerHealthMonitor {
  readonly #sources: WorkerHealthSources;
  readonly #workers = new Map<string, ObservedWorker>();
  #timer: NodeJS.Timeout | undefined;
  #startedAtMs = Number.POSITIVE_INFINITY;

  constructor(sources: WorkerHealthSources) {
    this.#sources = sources;
  }

  /** Starts to compute states. Before this call, the monitor only records the active versions. */
  start(): void {
    this.#startedAtMs = this.#sources.monotonicNow();
    this.#sources.records.retain("workers", (name) => this.#workers.has(name));
    for (const worker of this.#workers.values()) this.#settle(worker, new Set(this.#sources.fullDataNames()));
    this.#timer = setInterval(() => this.#check(), sampleEveryMs).unref();
  }

  /** Stores the last states, and stops. */
  close(): void {
    if (this.#timer) this.#check();
    clearInterval(this.#timer);
  }

  /**
   * Records the active version of a worker. Does nothing if this version is already recorded. `active` is undefined if the worker has no
   * active version.
   */
  noteActive(name: string, active: ActiveVersion | undefined): void {
    const worker = this.#workers.get(name);
    if (worker && worker.current?.active === active) return;
    const remembered = this.#timer ? undefined : this.#rememberedOf(name, active);
    const next: ObservedWorker = {
      name,
      current: active && this.#observe(active, { before: worker?.current, remembered }),
      hadProblem: remembered?.hadProblem ?? (worker !== undefined && (worker.hadProblem || isProblem(worker.state))),
      state: worker?.state,
      stateSinceMs: worker?.stateSinceMs ?? this.#sources.now(),
      isSinceStart: worker?.isSinceStart ?? false,
      remembered,
    };
    this.#workers.set(name, next);
    if (!this.#timer) return;
    this.#checkOne(next);
    // Stores the record even if the state has not changed, because the version in the record can have changed.
    if (this.#workers.get(name) === next) this.#store(next);
  }

  /** Records a failure of a worker version. Ignores a version that is not active. */
  noteTrouble({ name, version, kind, message, restMs = 0 }: Trouble): void {
    const worker = this.#workers.get(name);
    if (worker?.current?.active.version !== version) return;
    const nowMs = this.#sources.monotonicNow();
    // Reads the counters first, so that requests before the failure do not end its effect. After that, only a request that succeeds after
    // the failure can end this effect.
    worker.current.update(this.#meterOf(worker), nowMs);
    if (kind === "start-failed") worker.current.noteStartFailure(message);
    if (kind === "backoff") worker.current.noteRepeatedCrash(restMs, nowMs);
    if (this.#timer) this.#checkOne(worker);
  }

  /** Records a log entry of the level `error`. Ignores entries of versions that are not active. */
  noteError(entry: LogEntry): void {
    const current = this.#workers.get(entry.worker)?.current;
    if (current?.active.version === entry.version) current.errors.note(entry);
  }

  /** Returns the health of all workers for which `isWanted` returns true, sorted by name. */
  read(isWanted: (name: string) => boolean): WorkerHealth[] {
    const full = new Set(this.#sources.fullDataNames());
    const names = [...this.#workers.keys()].filter((name) => isWanted(name)).toSorted();
    return names.flatMap((name) => this.#healthOf(this.#workers.get(name) as ObservedWorker, full) ?? []);
  }

  #check(): void {
    const full = new Set(this.#sources.fullDataNames());
    for (const worker of this.#workers.values()) this.#settle(worker, full);
  }

  #checkOne(worker: ObservedWorker): void {
    this.#settle(worker, new Set(this.#sources.fullDataNames()));
  }

  /** Returns the state that an earlier daemon process stored, if the same code is active again. */
  #rememberedOf(name: string, active: ActiveVersion | undefined): HealthRecord | undefined {
    const record = this.#sources.records.workers.get(name);
    const installedAtMs = (active?.installation?.at ?? 0) * 1000;
    return record && record.version === active?.version && installedAtMs <= record.sinceMs ? record : undefined;
  }

  #observe(
    active: ActiveVersion,
    { before, remembered }: { before: ObservedVersion | undefined; remembered: HealthRecord | undefined },
  ): ObservedVersion {
    const nowMs = this.#sources.monotonicNow();
    // While the daemon starts, no version has received requests, and the upload time of a version counts as the time of its activation.
    const isStart = this.#timer === undefined;
    const meter = isStart ? undefined : this.#sources.meterOf(active.name, active.version);
    const beforeMeter = before && !isStart ? this.#sources.meterOf(active.name, before.active.version) : undefined;
    return new ObservedVersion({
      active,
      activeSinceMs: isStart ? (remembered?.activeSinceMs ?? (active.installation?.at ?? 0) * 1000) : this.#sources.now(),
      meter,
      beforeP99Ms: (beforeMeter && usualP99(beforeMeter, nowMs)) ?? before?.beforeP99Ms,
      nowMs,
    });
  }

  #meterOf({ name, current }: ObservedWorker): ObservedMeter | undefined {
    return current && this.#sources.meterOf(name, current.active.version);
  }

  /** Reads the counters and updates the state of a worker. Returns undefined if the worker is not installed any more. */
  #settle(worker: ObservedWorker, full: ReadonlySet<string>): Assessment | undefined {
    const { name, current } = worker;
    if (!current && this.#sources.versionsOf(name).length === 0) {
      this.#workers.delete(name);
      this.#sources.records.put("workers", name, undefined);
      return undefined;
    }
    const nowMs = this.#sources.monotonicNow();
    const meter = this.#meterOf(worker);
    current?.update(meter, nowMs);
    const assessment: Assessment = current
      ? assessWorker({
          ...current.observe(meter, nowMs),
          isDataFull: full.has(name),
          cronFailure: this.#sources.cronFailureOf(name),
        })
      : { state: "disabled" };
    if (assessment.isDataFull) worker.hadProblem = true;
    if (assessment.state !== worker.state) this.#change(worker, assessment);
    return assessment;
  }

  #change(worker: ObservedWorker, assessment: Assessment): void {
    const before = worker.state;
    const continued = this.#continued(worker, assessment.state);
    worker.state = assessment.state;
    worker.stateSinceMs = continued?.sinceMs ?? this.#sources.now();
    // Marks the first state after the start of the daemon as older than the start. Excludes states that only reflect traffic.
    const isFirst = before === undefined && this.#timer === undefined && !quietStates.has(assessment.state);
    worker.isSinceStart = continued ? continued.isSinceStart === true : isFirst;
    if (assessment.state === "ok") worker.hadProblem = false;
    if (assessment.state === "ok" || (isProblem(before) && quietStates.has(assessment.state))) worker.remembered = undefined;
    this.#store(worker);
    // The first known state of a worker is not a change, so the monitor publishes no event.
    if (before === undefined || (quietStates.has(before) && quietStates.has(assessment.state))) return;
    const version = worker.current?.active.version;
    this.#sources.publish({
      type: "worker.health",
      subject: { name: worker.name, ...(version !== undefined && { version }) },
      state: assessment.state,
      message: this.#reasonOf(worker, assessment) ?? assessment.state,
    });
  }

  /** Returns the stored state if `state` continues it: if both states are equal, or if both are problems. */
  #continued({ remembered }: ObservedWorker, state: WorkerState): HealthRecord | undefined {
    if (!remembered) return undefined;
    const isLate = this.#sources.monotonicNow() - this.#startedAtMs > degradedMemoryMs;
    if (remembered.state === "degraded" && isLate) return undefined;
    const isSame = remembered.state === state || (isProblem(remembered.state) && isProblem(state));
    return isSame ? remembered : undefined;
  }

  /** Stores the state of a worker for the next start of the daemon. States that only reflect traffic are not stored. */
  #store({ name, current, state, stateSinceMs, isSinceStart, hadProblem, remembered }: ObservedWorker): void {
    if (state === undefined) return;
    const version = current?.active.version;
    const record = {
      ...(version !== undefined && { version }),
      state,
      sinceMs: stateSinceMs,
      ...(isSinceStart && { isSinceStart }),
      ...(current && { activeSinceMs: current.activeSinceMs, hadProblem }),
    };
    this.#sources.records.put("workers", name, quietStates.has(state) ? remembered : record);
  }

  #healthOf(worker: ObservedWorker, full: ReadonlySet<string>): WorkerHealth | undefined {
    const assessment = this.#settle(worker, full);
    if (!assessment) return undefined;
    const { name, current, stateSinceMs, isSinceStart } = worker;
    const reason = this.#reasonOf(worker, assessment);
    const lastError = current?.errors.newest;
    const rollbackTo = current && !assessment.isDataFull ? this.#rollbackTarget(current.active) : undefined;
    return {
      name,
      version: current?.active.version ?? null,
      state: assessment.state,
      since: Math.floor(stateSinceMs / 1000),
      ...(isSinceStart && { isSinceStart }),
      ...(reason !== undefined && { reason }),
      ...(lastError && { lastError }),
      ...(current && isSuspect(worker, current) && { suspect: suspectOf(current.active) }),
      ...(rollbackTo !== undefined && { rollbackTo }),
    };
  }

  #reasonOf(worker: ObservedWorker, { reason }: Assessment): string | undefined {
    const { current } = worker;
    return reason?.(current && isSuspect(worker, current) ? `since ${current.active.version}` : "in the last minute");
  }

  #rollbackTarget({ name, version }: ActiveVersion): string | undefined {
    const versions = this.#sources
      .versionsOf(name)
      .filter((installed) => installed.version === version || installed.problem === undefined)
      .toSorted((a, b) => newestFirst(a.version, b.version));
    const active = versions.find((installed) => installed.version === version);
    // A rollback disables the active version, which is impossible for a built-in version.
    return active?.source === "built-in" ? undefined : versionBefore(active, versions)?.version;
  }
}

function isProblem(state: string | undefined): boolean {
  return state !== undefined && problemStates.has(state);
}

/**
 * Returns true if the version probably causes the problem. The worker had no problem before, its data folder is not full, and the problem
 * began within `suspectMs` after the activation of the version. A problem with an unknown start has no suspect.
 */
function isSuspect({ state, stateSinceMs, isSinceStart, hadProblem }: ObservedWorker, { activeSinceMs }: ObservedVersion): boolean {
  return isProblem(state) && !isSinceStart && !hadProblem && stateSinceMs >= activeSinceMs && stateSinceMs - activeSinceMs <= suspectMs;
}

function suspectOf({ version, installation }: ActiveVersion): NonNullable<WorkerHealth["suspect"]> {
  return { version, ...(installation && { installedAt: installation.at, by: installation.by }) };
}
