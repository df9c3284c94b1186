/** How long a failure is shown after it happened. */
const shownForMs = 10 * 60_000;
const longestMessage = 300;

/** Counts the failed hooks of one plugin since it was loaded, and keeps the last failure. */
export class HookFailures {
  #count = 0;
  #last: { readonly hook: string; readonly message: string; readonly atMs: number } | undefined;

  note(hook: string, error: unknown): void {
    this.#count += 1;
    const message = error instanceof Error ? error.message : "it threw a value that is no error";
    this.#last = { hook, message: message.slice(0, longestMessage), atMs: Date.now() };
  }

  /** Such as `onRequest failed; 3 failures since it was loaded: no license`; undefined when none happened lately. */
  get summary(): string | undefined {
    if (this.#last === undefined || Date.now() - this.#last.atMs > shownForMs) return undefined;
    const { hook, message } = this.#last;
    return `${hook} failed; ${this.#count} ${this.#count === 1 ? "failure" : "failures"} since it was loaded: ${message}`;
  }
}
