/** Lets several readers wait until the next call of `notify`. */
export class ChangeSignal {
  readonly #waiting = new Set<() => void>();

  /** Resolves when `notify` is called the next time, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  notify(): void {
    if (this.#waiting.size > 0) for (const wake of this.#waiting) wake();
  }
}
