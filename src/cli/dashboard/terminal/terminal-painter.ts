import type { DrawingSurface } from "../dashboard-host.js";

const synchronized = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };
const clearToLineEnd = "\u001b[K";
const clearScreen = "\u001b[2J";

/**
 * Stands between Ink and the terminal: takes whole frames and writes the lines that differ, each at its place. Ink's own writer moves
 * relative to where it thinks the cursor is, which a resize makes wrong, and then clears the scrollback of the person's terminal.
 */
export class TerminalPainter {
  readonly #terminal: DrawingSurface;
  #shown: readonly string[] = [];
  #isPaused = true;
  #frame = "";
  #isScheduled = false;
  /** Ink asks for these. */
  readonly isTTY = false;

  constructor(terminal: DrawingSurface) {
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  /** Takes a frame; of several in one turn of the event loop only the last is drawn. */
  write(frame: string): boolean {
    this.#frame = frame;
    // The first is drawn at once: what the daemon is asked for next takes its time.
    if (this.#shown.length === 0) this.#paint();
    else this.#schedule();
    return true;
  }

  /** Draws from now on, and everything once: what is on the terminal is not known. */
  resume(): void {
    this.#isPaused = false;
    this.#shown = [];
    this.#terminal.write(clearScreen);
    if (this.#frame !== "") this.write(this.#frame);
  }

  /** Draws everything once: a resize moves what was there. */
  repaint(): void {
    if (!this.#isPaused) this.resume();
  }

  pause(): void {
    this.#isPaused = true;
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#paint();
    });
  }

  #paint(): void {
    if (this.#isPaused) return;
    const lines = this.#frame.split("\n").slice(0, this.rows);
    // Cleared before it is written: behind a full line the cursor is still in the last column, and clearing would take its character.
    const changed = lines.flatMap((line, index) => (line === this.#shown[index] ? [] : [`\u001b[${index + 1};1H${clearToLineEnd}${line}`]));
    const leftOver = lines.length < this.#shown.length ? [`\u001b[${lines.length + 1};1H\u001b[J`] : [];
    this.#shown = lines;
    if (changed.length + leftOver.length === 0) return;
    this.#terminal.write([synchronized.begin, ...changed, ...leftOver, synchronized.end].join(""));
  }
}
