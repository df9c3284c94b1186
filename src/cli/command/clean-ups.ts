/** What must happen before a command is over, in any case, such as deleting its temporary files. */
export class CleanUps {
  readonly #pending: (() => void)[] = [];

  /** Registers a clean-up; it must not wait. */
  readonly add = (cleanUp: () => void): void => {
    this.#pending.push(cleanUp);
  };

  /** Runs each clean-up once, the newest first. */
  run(): void {
    for (const cleanUp of this.#pending.splice(0).toReversed()) cleanUp();
  }
}
