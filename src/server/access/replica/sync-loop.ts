import { setTimeout as delay } from "node:timers/promises";

interface SyncLoopOptions {
  /** Syncs once. Must not throw. */
  readonly sync: () => Promise<void>;
  /** Returns the pause before the next sync in ms. */
  readonly pauseMs: () => number;
}

/** Repeats syncs with a pause between them. Only one sync or other action runs at a time. */
export class SyncLoop {
  readonly #options: SyncLoopOptions;
  readonly #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Promise of the last sync or other action. The next sync or action starts after this promise settles. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Callers that wait for the next sync. */
  #waiting: (() => void)[] = [];
  #endPause: () => void = () => undefined;
  /** True if the next sync starts without a pause. */
  #isHurried = false;

  constructor(options: SyncLoopOptions) {
    this.#options = options;
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Starts the syncs. Resolves after the first one. */
  async start(): Promise<void> {
    const first = this.inTurn(this.#options.sync);
    this.#running = this.#goOn(first);
    await first;
  }

  /** Starts the next sync without a pause. If a sync is running, the next sync starts directly after it. */
  hurry(): void {
    this.#isHurried = true;
    this.#endPause();
  }

  /** Starts a sync without a pause. Resolves with true after the sync, or with false after the time limit. */
  async syncNow(limitMs: number): Promise<boolean> {
    const synced = new Promise<boolean>((resolve) => this.#waiting.push(() => resolve(true)));
    this.hurry();
    return Promise.race([synced, delay(limitMs, false, { ref: false })]);
  }

  /** Runs an action while no sync runs. */
  async inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(act);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Ends the pause, and prevents further syncs. */
  abort(): void {
    this.#ending.abort();
    this.#endPause();
  }

  /** Resolves after `abort`, when the last sync and the last action have ended. */
  async ended(): Promise<void> {
    await this.#running;
    await this.#turn;
  }

  async #goOn(first: Promise<void>): Promise<void> {
    await first;
    while (!this.isEnding) {
      if (!this.#isHurried) await this.#pause(this.#options.pauseMs());
      this.#isHurried = false;
      if (this.isEnding) return;
      const waiting = this.#waiting.splice(0);
      await this.inTurn(this.#options.sync);
      for (const resolve of waiting) resolve();
    }
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs).unref();
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
