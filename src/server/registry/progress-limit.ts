/** Aborts a call that makes no progress within a time limit. */
export class ProgressLimit {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;
  #limitMs: number;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#timer = this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** True if the call was aborted because the time without progress was too long. */
  get isExceeded(): boolean {
    return this.signal.aborted;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** Restarts the time limit. Must be called after each part of a body. `limitMs` replaces the current limit. */
  refresh(limitMs?: number): void {
    if (limitMs === undefined) this.#timer.refresh();
    else {
      clearTimeout(this.#timer);
      this.#limitMs = limitMs;
      this.#timer = this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(), this.#limitMs).unref();
  }
}
