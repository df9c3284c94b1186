import type { Log } from "../../log/log.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import type { IsolateProcess } from "./isolate-process.js";
import { constants } from "node:os";
import { canRaisePriority, lowerPriority, restorePriority } from "../../platform/process-priority.js";

const fewest = 2;
const most = 6;
/** So long after blanks ran short their number goes back to the fewest. */
const memoryOfShortageMs = 60_000;
/** A blank may be taken, and end, while it is asked. */
const probeAttempts = 3;

const mayYield = canRaisePriority();

/**
 * Isolates without an app that wait for one, so that a first request costs an import and not a process. They are started one after
 * the other, each when the one before is ready: serving goes on beside it. When they run short there are more of them for a while.
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

  /** Those that are there, ready or not. */
  get count(): number {
    return this.#ready.length + (this.#starting ? 1 : 0);
  }

  /** One that is ready or about to be; undefined when there is none, or none that is like that. */
  async take(needs: IsolateNeeds): Promise<IsolateProcess | undefined> {
    if (needs.memoryBytes !== this.#needs.memoryBytes || needs.permissions.length > 0 || needs.folder !== undefined) return undefined;
    // A blank can die while it waits, for instance when memory was short.
    this.#ready = this.#ready.filter((blank) => !blank.hasExited);
    const ready = this.#ready.shift();
    if (!ready) this.#noteShortage();
    const isolate = ready ?? (await this.#takeStarting());
    this.#refill();
    return isolate;
  }

  /** Resolves when one of them has said that it lives; throws when none can be started. Waits as long as it cannot be told. */
  async probe(): Promise<void> {
    for (let attempt = 0; attempt < probeAttempts && !this.#isClosed; attempt += 1) {
      const ready = this.#ready.find((blank) => !blank.hasExited);
      if (!ready) this.#refill();
      const blank = ready ?? (await this.#awaited(this.#starting));
      if (await blank?.answers()) return;
    }
    if (!this.#isClosed) throw new Error("no isolate could be started that answers");
  }

  /** Nothing is started any more; answers with those that are there. */
  async close(): Promise<IsolateProcess[]> {
    this.#isClosed = true;
    const starting = await this.#awaited(this.#starting);
    return [...new Set([...this.#ready.splice(0), ...(starting ? [starting] : [])])];
  }

  /** Whoever takes it waits for it; the next one starts only then. */
  #takeStarting(): Promise<IsolateProcess | undefined> {
    const starting = this.#starting;
    this.#starting = undefined;
    return this.#awaited(starting);
  }

  /** Undefined when there is none, or it could not be started: whoever started it tells that. */
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
    const blank = await starting.isolate.catch((error: unknown) => this.#log.error({ err: error }, "an isolate could not be started"));
    // Somebody could not wait for it.
    if (this.#starting !== starting) return;
    this.#starting = undefined;
    if (!blank) return;
    this.#ready.push(blank);
    this.#refill();
  }
}

/** One blank isolate on its way. It yields the processor to whoever is served, until somebody waits for it. */
export class BlankStart {
  /** Resolves when it is ready; rejects when it cannot be started. */
  readonly isolate: Promise<IsolateProcess>;
  #pid: number | undefined;
  #isAwaited = false;

  constructor(spawn: () => Promise<IsolateProcess>) {
    this.isolate = this.#start(spawn);
  }

  /** Somebody waits for it. */
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
