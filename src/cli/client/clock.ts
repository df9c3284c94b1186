/** A time limit that can start again. */
export class Clock {
  readonly #onEnd: (limitMs: number) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onEnd: (limitMs: number) => void) {
    this.#onEnd = onEnd;
  }

  start(limitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onEnd(limitMs), limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
