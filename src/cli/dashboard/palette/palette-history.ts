const mostLines = 100;

/** The command lines of this dashboard run, the newest last. Not stored on disk. */
export class PaletteHistory {
  #lines: readonly string[] = [];

  add(line: string): void {
    this.#lines = [...this.#lines.filter((known) => known !== line), line].slice(-mostLines);
  }

  /** Returns the line `steps` before the end (1 = newest). Undefined before the first line. */
  back(steps: number): string | undefined {
    return steps < 1 ? undefined : this.#lines.at(-steps);
  }
}
