/** Compiling takes a core; more at once would only take it from what is served. */
const compilingAtOnce = 2;
/** Workers whose code was too much for the compiler share this many of these places. */
const forOffenders = 1;
const rememberedOffenders = 1000;

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/** Who may compile when: each worker one thing at a time, and those that took too long before never in the way of all others. */
export class CompileQueue {
  readonly #running = new Set<string>();
  readonly #waiting: Waiting[] = [];
  readonly #offenders = new Set<string>();

  /** Runs the work when it is its owner's turn; `tookTooLong` says of a result that the owner is to stand back from now on. */
  async run<Result>(owner: string, work: () => Promise<Result>, tookTooLong: (result: Result) => boolean): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ owner, begin });
      this.#advance();
    });
    try {
      const result = await work();
      if (tookTooLong(result)) this.#remember(owner);
      else this.#offenders.delete(owner);
      return result;
    } finally {
      this.#running.delete(owner);
      this.#advance();
    }
  }

  #advance(): void {
    const inOrder = this.#waiting.slice();
    for (const waiting of inOrder) {
      if (this.#running.size >= compilingAtOnce) return;
      if (!this.#mayRun(waiting.owner)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#running.add(waiting.owner);
      waiting.begin();
    }
  }

  #mayRun(owner: string): boolean {
    if (this.#running.has(owner)) return false;
    if (!this.#offenders.has(owner)) return true;
    return [...this.#running].filter((running) => this.#offenders.has(running)).length < forOffenders;
  }

  #remember(owner: string): void {
    this.#offenders.add(owner);
    const [oldest] = this.#offenders;
    if (this.#offenders.size > rememberedOffenders && oldest !== undefined) this.#offenders.delete(oldest);
  }
}
