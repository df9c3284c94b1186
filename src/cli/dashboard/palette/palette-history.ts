const mostLines = 100;

/** The command lines entered since the dashboard started, the newest last. Not stored on disk. */
export class PaletteHistory {
  #lines: readonly string[] = [];

  add(line: string): void {
    this.#lines = [...this.#lines.filter((known) => known !== line), line].slice(-mostLines);
  }

  /** Returns the line that is `steps` before the end, where 1 is the newest line. Undefined if there are fewer lines. */
  back(steps: number): string | undefined {
    return steps < 1 ? undefined : this.#lines.at(-steps);
  }
}
