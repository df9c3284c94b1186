import type { Log } from "../observe/log.js";

const tickMs = 200;
const ticksPerRound = 8;
/** About a millisecond: looking costs half a hundredth of a core, however many workers there are. */
const mostLooksPerTick = 100;
/** A tick that finds much to read stops here and goes on at the next. */
const longestTickMs = 10;

/** A look at a part of the catalog: answers with the folders that are no longer current; undefined when something has changed, and it is to look again. */
export type Look = (isSure: boolean) => string[] | undefined;

interface Looks {
  looks(): Iterator<Look>;
  readonly lookCount: number;
}

/**
 * Looks at a part of the catalog every tick and at all of it within about two seconds, four with 2,000 workers, so that they cost a
 * millisecond now and then instead of a burst. Polling, because the kernel's notifications need a watch on every folder and are lost when too many come.
 */
export class CatalogPoll {
  readonly #timer: NodeJS.Timeout;
  readonly #catalog: Looks;
  readonly #catchUp: () => void;
  readonly #onRetired: (folder: string) => void;
  readonly #log: Log;
  #round: Iterator<Look>;
  /** What had changed at the last tick. */
  #again: Look[] = [];

  constructor(options: {
    catalog: Looks;
    /** Follows what other instances say that they have changed, which is more than can be seen. */
    catchUp: () => void;
    /** A folder's content is no longer what the catalog said. */
    onRetired: (folder: string) => void;
    log: Log;
  }) {
    this.#catalog = options.catalog;
    this.#catchUp = options.catchUp;
    this.#onRetired = options.onRetired;
    this.#log = options.log;
    this.#round = options.catalog.looks();
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const stopAt = performance.now() + longestTickMs;
    if (this.#again.length > 0) this.#catchUp();
    for (const look of this.#again.splice(0)) this.#take(look, true);
    const share = Math.min(Math.ceil(this.#catalog.lookCount / ticksPerRound), mostLooksPerTick);
    for (let count = 0; count < share && performance.now() < stopAt; count += 1) {
      const next = this.#round.next();
      if (next.done) {
        this.#round = this.#catalog.looks();
        return;
      }
      this.#take(next.value, false);
    }
  }

  #take(look: Look, isSure: boolean): void {
    try {
      const retired = look(isSure);
      if (retired === undefined) this.#again.push(look);
      else for (const folder of retired) this.#onRetired(folder);
    } catch (error) {
      this.#log.warn({ err: error }, "a folder of workers could not be read");
    }
  }
}
