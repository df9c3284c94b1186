import type { Log } from "../../log/log.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import type { IsolateProcess } from "./isolate-process.js";
import { constants } from "node:os";
import { canRaisePriority, lowerPriority, restorePriority } from "../../platform/process-priority.js";

const fewest = 2;
const most = 6;
/** The number of standby isolates returns to the minimum this long after the last shortage. */
const memoryOfShortageMs = 60_000;
/** A standby isolate can be taken or end during the probe. */
const probeAttempts = 3;

const mayYield = canRaisePriority();

/**
 * Standby isolates without a worker: a first request then costs an import and no process start. They start one after the other, to leave
 * CPU time for requests. After a shortage, more are kept for 60 s.
 */
export class StandbyIsolates {
  readonly #needs: IsolateNeeds;
  readonly #spawn: () => Promise<IsolateProcess>;
  readonly #log: Log;
  #ready: IsolateProcess[] = [];
  #starting: BlankStart | undefined;
  #wanted = fewest;
  #shortMs = -Infinity;
  #isClosed = false;

  constructor(options: { needs: IsolateNeeds; spawn: () => Promise<IsolateProcess>; log: Log }) {
    this.#needs = options.needs;
    this.#spawn = options.spawn;
    this.#log = options.log;
    this.#refill();
  }

  /** Standby isolates, ready or starting. */
  get count(): number {
    return this.#ready.length + (this.#starting ? 1 : 0);
  }

  /** Takes a ready or starting isolate; undefined when there is none, or when `needs` differ from those of standby isolates. */
  async take(needs: IsolateNeeds): Promise<IsolateProcess | undefined> {
    if (needs.memoryBytes !== this.#needs.memoryBytes || needs.permissions.length > 0) return undefined;
    if (needs.folder !== undefined || needs.data !== undefined) return undefined;
    // A standby isolate can end while it waits, for example killed for lack of memory.
    this.#ready = this.#ready.filter((blank) => !blank.hasExited);
    const ready = this.#ready.shift();
    if (!ready) this.#noteShortage();
    const isolate = ready ?? (await this.#takeStarting());
    this.#refill();
    return isolate;
  }

  /** Resolves when a standby isolate has responded to a ping; rejects when none can start. There is no timeout. */
  async probe(): Promise<void> {
    for (let attempt = 0; attempt < probeAttempts && !this.#isClosed; attempt += 1) {
      const ready = this.#ready.find((blank) => !blank.hasExited);
      if (!ready) this.#refill();
      const blank = ready ?? (await this.#awaited(this.#starting));
      if (await blank?.answers()) return;
    }
    if (!this.#isClosed) throw new Error("no isolate could be started that responds");
  }

  /** Starts no more isolates; returns the existing ones. */
  async close(): Promise<IsolateProcess[]> {
    this.#isClosed = true;
    const starting = await this.#awaited(this.#starting);
    return [...new Set([...this.#ready.splice(0), ...(starting ? [starting] : [])])];
  }

  /** Takes the starting isolate; the next one starts only afterwards. */
  #takeStarting(): Promise<IsolateProcess | undefined> {
    const starting = this.#starting;
    this.#starting = undefined;
    return this.#awaited(starting);
  }

  /** Resolves with the isolate; undefined when there is none or when its start failed, which its starter reports. */
  async #awaited(starting: BlankStart | undefined): Promise<IsolateProcess | undefined> {
    starting?.hasten();
    return await starting?.isolate.catch(() => undefined);
  }

  #noteShortage(): void {
    this.#wanted = Math.min(most, this.#wanted + 1);
    this.#shortMs = performance.now();
  }

  #refill(): void {
    if (performance.now() - this.#shortMs > memoryOfShortageMs) this.#wanted = fewest;
    this.#ready = this.#ready.filter((blank) => !blank.hasExited);
    if (this.#isClosed || this.#starting || this.#ready.length >= this.#wanted) return;
    void this.#startOne();
  }

  async #startOne(): Promise<void> {
    const starting = new BlankStart(this.#spawn);
    this.#starting = starting;
    const blank = await starting.isolate.catch((error: unknown) => this.#log.error({ err: error }, "isolate could not be started"));
    // Another caller took the starting isolate.
    if (this.#starting !== starting) return;
    this.#starting = undefined;
    if (!blank) return;
    this.#ready.push(blank);
    this.#refill();
  }
}

/** A standby isolate that starts, at low CPU priority until a caller waits for it. */
export class BlankStart {
  /** Resolves when the isolate is ready; rejects when its start fails. */
  readonly isolate: Promise<IsolateProcess>;
  #pid: number | undefined;
  #isAwaited = false;

  constructor(spawn: () => Promise<IsolateProcess>) {
    this.isolate = this.#start(spawn);
  }

  /** Restores normal priority because a caller waits. */
  hasten(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    if (mayYield) restorePriority(this.#pid);
  }

  async #start(spawn: () => Promise<IsolateProcess>): Promise<IsolateProcess> {
    const isolate = await spawn();
    this.#pid = isolate.pid;
    if (mayYield && !this.#isAwaited) lowerPriority(this.#pid, constants.priority.PRIORITY_LOW);
    await isolate.blank;
    this.hasten();
    return isolate;
  }
}
