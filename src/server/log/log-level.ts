import type { Log } from "./log.js";

/** Changes the level of a log and of all that were made of it: pino gives a child its parent's level when it is made, and never again. */
export class LogLevel {
  readonly #children = new Set<WeakRef<Log>>();
  readonly #forgotten = new FinalizationRegistry<WeakRef<Log>>((child) => this.#children.delete(child));
  #log: Log | undefined;

  /** To be called for each child of the log. */
  readonly noteChild = (child: Log): void => {
    const reference = new WeakRef(child);
    this.#children.add(reference);
    this.#forgotten.register(child, reference);
  };

  of(log: Log): void {
    this.#log = log;
  }

  get current(): string | undefined {
    return this.#log?.level;
  }

  /** `level` is one of pino's. */
  set(level: string): void {
    for (const log of [this.#log, ...[...this.#children].map((child) => child.deref())]) if (log) log.level = level;
  }
}
