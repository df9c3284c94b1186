import type { Log } from "../../log/log.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import type { IsolateProcess } from "./isolate-process.js";
import { constants } from "node:os";
import { canRaisePriority, lowerPriority, restorePriority } from "../../platform/process-priority.js";

const fewest = 2;
const most = 6;
/** If no shortage of standby isolates has occurred for this time in ms, their target number falls to `fewest` again. */
const shortageDurationMs = 60_000;
/** Maximum number of attempts per probe. An attempt fails if the standby isolate cannot start, or exits before its response. */
const probeAttempts = 3;

const canLowerPriority = canRaisePriority();

/**
 * Started isolates without a worker. With them, the first request of a worker needs no process start. Only one standby isolate starts at a
 * time, so that requests have CPU time. For 60 s after a shortage, the daemon keeps more of them.
 */
export class StandbyIsolates {
  readonly #needs: IsolateNeeds;
  readonly #spawn: () => Promise<IsolateProcess>;
  readonly #isStopping: () => boolean;
  readonly #log: Log;
  #ready: IsolateProcess[] = [];
  #starting: StandbyStart | undefined;
  #wanted = fewest;
  #shortMs = -Infinity;
  #isClosed = false;

  /**
   * `isStopping` returns whether the daemon is stopping. A signal to the daemon's process group can then end a starting isolate, and this
   * end must not count as a failure.
   */
  constructor(options: { needs: IsolateNeeds; spawn: () => Promise<IsolateProcess>; isStopping: () => boolean; log: Log }) {
    this.#needs = options.needs;
    this.#spawn = options.spawn;
    this.#isStopping = options.isStopping;
    this.#log = options.log;
    this.#refill();
  }

  /** Number of standby isolates. Includes the one that is starting. */
  get count(): number {
    return this.#ready.length + (this.#starting ? 1 : 0);
  }

  /**
   * Returns a ready or starting standby isolate, which the caller then owns. Returns undefined if there is no standby isolate, or if
   * standby isolates do not meet `needs`.
   */
  async take(needs: IsolateNeeds): Promise<IsolateProcess | undefined> {
    if (needs.memoryBytes !== this.#needs.memoryBytes || needs.permissions.length > 0) return undefined;
    if (needs.folder !== undefined || needs.data !== undefined) return undefined;
    // Skips standby isolates that have exited. The kernel can have killed one because memory was short.
    this.#ready = this.#ready.filter((isolate) => !isolate.hasExited);
    const ready = this.#ready.shift();
    if (!ready) this.#noteShortage();
    const isolate = ready ?? (await this.#takeStarting());
    this.#refill();
    return isolate;
  }

  /** Resolves when a standby isolate has responded to a ping. Rejects if none can start. The caller must set a time limit. */
  async probe(): Promise<void> {
    for (let attempt = 0; attempt < probeAttempts && !this.#isClosed; attempt += 1) {
      const ready = this.#ready.find((isolate) => !isolate.hasExited);
      if (!ready) this.#refill();
      const isolate = ready ?? (await this.#awaited(this.#starting));
      if (await isolate?.respondsToPing()) return;
    }
    if (!this.#isClosed) throw new Error("no standby isolate responds to a ping");
  }

  /** Starts no more isolates. Returns the existing standby isolates, which the caller must stop. */
  async close(): Promise<IsolateProcess[]> {
    this.#isClosed = true;
    const starting = await this.#awaited(this.#starting);
    return [...new Set([...this.#ready.splice(0), ...(starting ? [starting] : [])])];
  }

  /** Returns the starting isolate. The caller then owns it, and another standby isolate can start. */
  #takeStarting(): Promise<IsolateProcess | undefined> {
    const starting = this.#starting;
    this.#starting = undefined;
    return this.#awaited(starting);
  }

  /**
   * Resolves with the starting isolate. Resolves with undefined if none is starting, or if the start fails. `#startOne` logs the failure.
   */
  async #awaited(starting: StandbyStart | undefined): Promise<IsolateProcess | undefined> {
    starting?.raisePriority();
    return await starting?.isolate.catch(() => undefined);
  }

  #noteShortage(): void {
    this.#wanted = Math.min(most, this.#wanted + 1);
    this.#shortMs = performance.now();
  }

  #refill(): void {
    if (performance.now() - this.#shortMs > shortageDurationMs) this.#wanted = fewest;
    this.#ready = this.#ready.filter((isolate) => !isolate.hasExited);
    if (this.#isClosed || this.#isStopping() || this.#starting || this.#ready.length >= this.#wanted) return;
    void this.#startOne();
  }

  async #startOne(): Promise<void> {
    const starting = new StandbyStart(this.#spawn);
    this.#starting = starting;
    const isolate = await starting.isolate.catch((error: unknown) => {
      if (!this.#isStopping()) this.#log.error({ err: error }, "isolate could not be started");
    });
    // Does nothing if another caller has taken this isolate.
    if (this.#starting !== starting) return;
    this.#starting = undefined;
    if (!isolate) return;
    this.#ready.push(isolate);
    this.#refill();
  }
}

/** A standby isolate that is starting. Its CPU priority is low until a caller waits for it. */
export class StandbyStart {
  /** Resolves when the isolate is ready. Rejects when its start fails. */
  readonly isolate: Promise<IsolateProcess>;
  #pid: number | undefined;
  #isAwaited = false;

  constructor(spawn: () => Promise<IsolateProcess>) {
    this.isolate = this.#start(spawn);
  }

  /** Restores the normal CPU priority of the starting isolate's process. */
  raisePriority(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    if (canLowerPriority) restorePriority(this.#pid);
  }

  async #start(spawn: () => Promise<IsolateProcess>): Promise<IsolateProcess> {
    const isolate = await spawn();
    this.#pid = isolate.pid;
    if (canLowerPriority && !this.#isAwaited) lowerPriority(this.#pid, constants.priority.PRIORITY_LOW);
    await isolate.ready;
    this.raisePriority();
    return isolate;
  }
}
