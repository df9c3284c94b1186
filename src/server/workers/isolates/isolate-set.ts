import { availableParallelism } from "node:os";
import { ApiError } from "../../../shared/api-error.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { toApiError } from "../../web/error-response.js";
import { AutoScale, CrashBackOff, watchIdleness } from "./isolate-lifecycle.js";
import { saturated, type CallQueue } from "../engine/call-queue.js";
import type { IsolateEvents, IsolateProcess } from "./isolate-process.js";
import type { IsolateStarter } from "./isolate-starter.js";
import type { WorkerOutput } from "../logs/isolate-output.js";
import type { ServedVersion } from "../engine/version-handler.js";
import type { WorkerCall } from "../engine/worker-call.js";

/** Maximum number of concurrent calls per isolate. Above this number, calls wait in the queue of the worker version. */
const callsPerIsolate = 1024;
/**
 * If `ttl` is 0, each call gets a new isolate. This number multiplied by `instances` in the manifest is then the maximum number of
 * concurrent isolates.
 */
const freshIsolatesPerInstance = 4;

/** The isolates of one worker version. Decides how many isolates run, and which isolate receives the next call. */
export class IsolateSet {
  readonly #version: ServedVersion;
  readonly #observer: IsolateObserver | undefined;
  readonly #manifest: WorkerManifest;
  readonly #starter: IsolateStarter;
  readonly #queue: CallQueue;
  readonly #output: WorkerOutput;
  /** Called when an isolate has become idle or has exited. */
  readonly #onIdle: () => void;
  readonly #isEphemeral: boolean;
  readonly #most: number;
  /**
   * Maximum number of isolates that start because of concurrent calls. With `instances: auto`, this is 1, and further isolates start
   * because of the CPU load.
   */
  readonly #mostAtOnce: number;
  readonly #load: AutoScale | undefined;
  readonly #isolates = new Set<IsolateProcess>();
  readonly #starts = new Set<Promise<void>>();
  readonly #backOff = new CrashBackOff();
  /** Isolates that have received `maxRequests` calls. The replacement of each is starting. */
  readonly #beingReplaced = new Set<IsolateProcess>();
  /** Isolates for which `stop` was called while they were loading the worker. */
  readonly #stopped = new WeakSet<IsolateProcess>();
  /** Number of restarts of the worker. An isolate that began to start before the last restart is outdated. */
  #epoch = 0;
  #isRetired = false;

  constructor(options: {
    version: ServedVersion;
    observer: IsolateObserver | undefined;
    starter: IsolateStarter;
    queue: CallQueue;
    output: WorkerOutput;
    onIdle: () => void;
  }) {
    const { manifest } = options.version;
    this.#version = options.version;
    this.#observer = options.observer;
    this.#manifest = manifest;
    this.#starter = options.starter;
    this.#queue = options.queue;
    this.#output = options.output;
    this.#onIdle = options.onIdle;
    this.#isEphemeral = manifest.ttl === 0;
    const { instances } = manifest;
    this.#most = (instances === "auto" ? availableParallelism() : instances) * (this.#isEphemeral ? freshIsolatesPerInstance : 1);
    this.#mostAtOnce = instances === "auto" ? 1 : this.#most;
    this.#load = instances === "auto" && !this.#isEphemeral ? new AutoScale({ most: this.#most }) : undefined;
  }

  [Symbol.iterator](): Iterator<IsolateProcess> {
    return this.#isolates.values();
  }

  get isStarting(): boolean {
    return this.#starts.size > 0;
  }

  get startingCount(): number {
    return this.#starts.size;
  }

  get isEmpty(): boolean {
    return this.#isolates.size === 0;
  }

  get isIdle(): boolean {
    for (const isolate of this.#isolates) if (!isolate.isIdle) return false;
    return true;
  }

  /** Returns the isolate for the next call. Returns undefined if the call must wait. */
  pick(): IsolateProcess | undefined {
    if (this.#isEphemeral) return this.#unused()[0];
    const isolate = this.#leastBusy();
    // If the isolate is possibly blocked, lets the call wait for the response to a ping. If the daemon kills the blocked isolate, only
    // calls in this isolate fail.
    return isolate?.isResponsive() ? isolate : undefined;
  }

  run(isolate: IsolateProcess, call: WorkerCall): void {
    isolate.run(call);
    const { maxRequests } = this.#manifest;
    if (this.#isEphemeral) {
      isolate.drain({ keepsSockets: true });
      this.ensure();
    } else if (maxRequests > 0 && isolate.calls.acceptedCount >= maxRequests) this.#replace(isolate);
    else if (isolate.calls.runningCount > 1 && this.#isolates.size + this.#starts.size < this.#mostAtOnce) this.#start();
  }

  /** Starts or stops an isolate by the CPU load. Returns true if the load must be measured again even without a new call. */
  scale(nowMs: number): boolean {
    if (!this.#load) return false;
    const serving = this.#serving();
    const wanted = this.#load.wantedCount(serving, nowMs);
    if (wanted > serving.length + this.#starts.size && serving.length > 0) this.#start(() => !this.#isRetired);
    else if (wanted < serving.length) serving.toSorted((a, b) => b.loadedMs - a.loadedMs)[0]?.drain({ keepsSockets: true });
    return serving.length > 1;
  }

  /**
   * Drains the running isolates and starts the same number of new isolates. Returns the number of replaced isolates, including starting
   * isolates.
   */
  restart(): number {
    this.#epoch += 1;
    this.#backOff.reset();
    this.#starter.discardResult();
    const leaving = this.#serving();
    const count = leaving.length + this.#starts.size;
    for (const isolate of leaving) isolate.drain();
    if (!this.#isEphemeral) for (let index = 0; index < leaving.length; index += 1) this.#start(() => !this.#isRetired);
    else if (leaving.length > 0) this.ensure();
    return count;
  }

  /** Drains an isolate. If the isolate loads the worker, drains it after the load. Waiting calls receive another isolate. */
  stop(isolate: IsolateProcess): void {
    if (!this.#isolates.has(isolate)) return void this.#stopped.add(isolate);
    isolate.drain();
    if (this.#queue.length > 0 && !this.#isRetired) this.ensure();
  }

  /** Returns the error for a new call if it cannot wait in the queue. Returns undefined if it can wait. */
  refusal(): ApiError | undefined {
    const blockedMs = this.#backOff.remainingMs(performance.now());
    if (blockedMs > 0 && this.#serving().length === 0) return this.#starter.lastError ?? crashedRepeatedly(blockedMs);
    return this.#queue.isFull ? saturated() : undefined;
  }

  /** Starts the isolates that the waiting calls need. */
  ensure(): void {
    if (this.#isEphemeral) return this.#ensureFresh();
    if (this.#serving().length + this.#starts.size === 0) this.#start();
  }

  /** Starts one isolate for each waiting call. If `idleTimeout` is above 0, also starts one isolate per instance for later calls. */
  #ensureFresh(): void {
    const prepared = this.#manifest.idleTimeout > 0 ? this.#most / freshIsolatesPerInstance : 0;
    const missing = this.#queue.length + prepared - this.#unused().length - this.#starts.size;
    const room = this.#most - this.#isolates.size - this.#starts.size;
    for (let count = Math.min(missing, room); count > 0; count -= 1) this.#start(() => !this.#isRetired);
  }

  /** Starts a replacement first and then drains `isolate`, so that no call waits for the start. */
  #replace(isolate: IsolateProcess): void {
    if (this.#beingReplaced.has(isolate) || this.#backOff.remainingMs(performance.now()) > 0) return;
    this.#beingReplaced.add(isolate);
    this.#start(
      () => isolate.isServing,
      (isReplaced) => {
        this.#beingReplaced.delete(isolate);
        if (isReplaced) isolate.drain();
      },
    );
  }

  #described({ pid }: IsolateProcess): ServingIsolate {
    return { name: this.#version.name, version: this.#version.version, pid };
  }

  #serving(): IsolateProcess[] {
    return [...this.#isolates].filter((isolate) => isolate.isServing);
  }

  /** Returns the isolates that have received no call yet. With `ttl: 0`, an isolate serves only one call. */
  #unused(): IsolateProcess[] {
    return [...this.#isolates].filter((isolate) => isolate.isAccepting && isolate.calls.acceptedCount === 0);
  }

  /**
   * Starts no more isolates and drains the running isolates. These isolates read files from `movedTo` if it is set. Resolves when all
   * isolates have exited.
   */
  async retire(movedTo: string | undefined): Promise<void> {
    this.#isRetired = true;
    const isolates = [...this.#isolates];
    if (movedTo !== undefined) await Promise.all(isolates.map((isolate) => isolate.slot.follow(movedTo).catch(() => undefined)));
    for (const isolate of isolates) isolate.drain();
    // Waits for isolates that are starting. Each of them drains after its start, because the set is retired.
    await Promise.all(this.#starts);
    await Promise.all([...isolates, ...this.#isolates].map((isolate) => isolate.exited));
  }

  #leastBusy(): IsolateProcess | undefined {
    let best: IsolateProcess | undefined;
    for (const isolate of this.#isolates) {
      if (!isolate.isAccepting || isolate.calls.runningCount >= callsPerIsolate) continue;
      if (!best || isolate.calls.runningCount < best.calls.runningCount) best = isolate;
    }
    return best;
  }

  #start(isWanted = (): boolean => this.#queue.isWanted(), onEnd = (_isReady: boolean): void => undefined): void {
    const start = this.#startIsolate(isWanted)
      .then(
        (isReady) => onEnd(isReady),
        (error: unknown) => {
          onEnd(false);
          this.#onStartFailure(error);
        },
      )
      .finally(() => {
        this.#starts.delete(start);
        if (this.#queue.length > 0) this.ensure();
      });
    this.#starts.add(start);
  }

  /** Starts an isolate. Resolves with true if it serves calls, and with false if it drains immediately. */
  async #startIsolate(isWanted: () => boolean): Promise<boolean> {
    const startedAtMs = performance.now();
    const epoch = this.#epoch;
    const isolate = await this.#starter.start(this.#events, isWanted);
    this.#output.runtime(this.#isEphemeral ? "debug" : "info", `Started in ${Math.round(performance.now() - startedAtMs)} ms.`);
    this.#isolates.add(isolate);
    this.#observer?.spawned(this.#described(isolate));
    if (this.#isRetired || epoch !== this.#epoch || this.#stopped.has(isolate)) {
      isolate.drain();
      return false;
    }
    const { idleTimeout, ttl } = this.#manifest;
    watchIdleness(isolate, this.#isEphemeral ? { idleTimeout: Infinity, ttl: idleTimeout } : { idleTimeout, ttl });
    this.#feed(isolate);
    return true;
  }

  #onStartFailure(error: unknown): void {
    const failure = toApiError(error);
    this.#output.runtime("error", failure.message, { err: failure.cause, code: failure.code });
    if (this.#isRetired) return;
    if (failure.code === "WORKER_START_FAILED") this.#reportTrouble("start-failed", failure.message);
    if (failure.code === "WORKER_START_FAILED") this.#noteCrash();
    // Fails the waiting calls, because no draining isolate accepts them. Otherwise they would start isolates repeatedly until the last
    // draining isolate has exited.
    if (this.#serving().length === 0 || this.#isEphemeral) this.#queue.failAll(failure);
  }

  #noteCrash(): void {
    const nowMs = performance.now();
    this.#backOff.noteFailure(nowMs);
    const restMs = this.#backOff.remainingMs(nowMs);
    if (restMs <= 0) return;
    const text = `The worker failed repeatedly. The next start is delayed by ${Math.ceil(restMs / 1000)} s.`;
    this.#output.runtime("warn", text);
    this.#reportTrouble("backoff", text, restMs);
  }

  #reportTrouble(kind: WorkerTrouble["kind"], message: string, restMs?: number): void {
    const { name, version } = this.#version;
    this.#observer?.troubled({ name, version, kind, message, restMs });
  }

  /** Passes waiting calls to an isolate with free capacity. */
  #feed(isolate: IsolateProcess): void {
    while (this.#queue.length > 0 && isolate.isAccepting && isolate.calls.runningCount < callsPerIsolate) {
      const call = this.#queue.take();
      if (!call) return;
      call.touch();
      this.run(isolate, call);
    }
  }

  readonly #events: IsolateEvents = {
    onCapacity: (isolate) => {
      if (this.#queue.length > 0) this.#feed(isolate);
      if (isolate.isIdle) this.#onIdle();
    },
    onExit: (isolate, end) => {
      const wasRunning = this.#isolates.delete(isolate);
      if (wasRunning) this.#observer?.terminated(this.#described(isolate));
      if (wasRunning && isolate.hasCrashed) {
        this.#reportTrouble("crashed", `The isolate ${end}.`);
        this.#noteCrash();
      }
      this.#onIdle();
      if (this.#queue.length === 0) return;
      const refusal = this.refusal();
      if (refusal) this.#queue.failAll(refusal);
      else this.ensure();
    },
    onOutput: (level, text) => this.#output.app(level, text),
    onNotice: (level, text) => this.#output.runtime(level, text),
  };
}

function crashedRepeatedly(blockedMs: number): ApiError {
  const retryAfterSeconds = Math.ceil(blockedMs / 1000);
  return new ApiError("WORKER_UNAVAILABLE", `The worker crashed repeatedly. The daemon starts it again in ${retryAfterSeconds} s.`, {
    retryAfterSeconds,
  });
}

/** An isolate that serves one version of a worker. */
interface ServingIsolate {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** A failure of a worker version that is reported to the operator. */
interface WorkerTrouble {
  readonly name: string;
  readonly version: string;
  readonly kind: "crashed" | "start-failed" | "backoff" | "data-full";
  /** Description of the failure for the operator, as a full sentence. */
  readonly message: string;
  /** For `backoff`, the time in ms until the next start. */
  readonly restMs?: number | undefined;
}

/** Notified when an isolate has loaded its worker, when its process has exited, and of each failure. */
export interface IsolateObserver {
  spawned(isolate: ServingIsolate): void;
  terminated(isolate: ServingIsolate): void;
  troubled(trouble: WorkerTrouble): void;
}
