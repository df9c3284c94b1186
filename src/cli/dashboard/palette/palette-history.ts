const mostLines = 100;

/** The command lines that the user entered in the palette since the dashboard started, newest last. Never stored on the disk. */
export class PaletteHistory {
  #lines: readonly string[] = [];

  add(line: string): void {
    this.#lines = [...this.#lines.filter((known) => known !== line), line].slice(-mostLines);
  }

  /** Returns the command line at position `steps` from the end. Position 1 is the newest line. Undefined if there are fewer lines. */
  back(steps: number): string | undefined {
    return steps < 1 ? undefined : this.#lines.at(-steps);
  }
}
