interface CallLimits {
  /** Maximum number of calls that run at the same time. */
  readonly total: number;
  /** Maximum number of calls to one daemon that run at the same time. */
  readonly perDaemon: number;
}

/**
 * Limits the number of calls to other daemons that run at the same time: in total and for each daemon. Calls that wait because of the limit
 * for one daemon do not delay calls to other daemons.
 */
export class CallLimiter {
  readonly #limits: CallLimits;
  readonly #waiting: { readonly daemon: string; readonly enter: () => void }[] = [];
  readonly #running = new Map<string, number>();
  #total = 0;

  constructor(limits: CallLimits) {
    this.#limits = limits;
  }

  /**
   * Waits until a call to `daemon` is within both limits, and counts the call as running. Resolves with true, or with false if the signal
   * aborts first.
   */
  async acquire(daemon: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#isBelowLimits(daemon)) {
      this.#count(daemon);
      return true;
    }
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        resolve(false);
      };
      const enter = () => {
        signal.removeEventListener("abort", leave);
        resolve(true);
      };
      const waiter = { daemon, enter };
      signal.addEventListener("abort", leave);
      this.#waiting.push(waiter);
    });
  }

  /**
   * Ends a call that `acquire` counts as running. Then starts the call that has waited longest, among the calls to daemons below their
   * limit.
   */
  release(daemon: string): void {
    const left = (this.#running.get(daemon) ?? 1) - 1;
    if (left > 0) this.#running.set(daemon, left);
    else this.#running.delete(daemon);
    this.#total -= 1;
    const index = this.#waiting.findIndex((one) => this.#isBelowLimits(one.daemon));
    if (index === -1) return;
    for (const next of this.#waiting.splice(index, 1)) {
      this.#count(next.daemon);
      next.enter();
    }
  }

  #isBelowLimits(daemon: string): boolean {
    return this.#total < this.#limits.total && (this.#running.get(daemon) ?? 0) < this.#limits.perDaemon;
  }

  #count(daemon: string): void {
    this.#total += 1;
    this.#running.set(daemon, (this.#running.get(daemon) ?? 0) + 1);
  }
}
