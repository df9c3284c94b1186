const mostLines = 100;

/** The command lines of this dashboard, the newest last. They are gone when it ends. */
export class PaletteHistory {
  #lines: readonly string[] = [];

  add(line: string): void {
    this.#lines = [...this.#lines.filter((known) => known !== line), line].slice(-mostLines);
  }

  /** The line so many steps back, from 1; undefined beyond the first. */
  back(steps: number): string | undefined {
    return steps < 1 ? undefined : this.#lines.at(-steps);
  }
}
