/** The way back from what was done last, where there is one. */
export class Undo {
  #step: (() => Promise<void>) | undefined;

  remember(step: (() => Promise<void>) | undefined): void {
    this.#step = step;
  }

  get isPossible(): boolean {
    return this.#step !== undefined;
  }

  /** Goes back once. */
  async run(): Promise<void> {
    const step = this.#step;
    this.#step = undefined;
    await step?.();
  }
}
