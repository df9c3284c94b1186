/** Aborts a call that makes no progress for a time. */
export class ProgressLimit {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout;
  #limitMs: number;

  /** `outer` aborts the call earlier, for example at the stop of the daemon. */
  constructor(limitMs: number, outer?: AbortSignal) {
    this.#limitMs = limitMs;
    this.#outer = outer;
    this.signal = outer ? AbortSignal.any([outer, this.#controller.signal]) : this.#controller.signal;
    this.#timer = this.#start();
  }

  /** True if the call was aborted because the time without progress was too long. */
  get isExceeded(): boolean {
    return this.#controller.signal.aborted && this.#outer?.aborted !== true;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** Starts the time again. Call it after each part of a body. `limitMs` replaces the limit. */
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
