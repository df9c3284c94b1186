import type { DrawingSurface } from "../dashboard-host.js";

const synchronized = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };
const clearToLineEnd = "\u001b[K";
const clearScreen = "\u001b[2J";

/**
 * Output stream for Ink. Receives complete frames and writes only the changed lines, at absolute positions. Ink's own writer uses relative
 * positions, which are wrong after a resize, and clears the scrollback.
 */
export class TerminalPainter {
  readonly #terminal: DrawingSurface;
  #shown: readonly string[] = [];
  #isPaused = true;
  #frame = "";
  #isScheduled = false;
  /** Ink's stream interface requires this property. */
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

  /** Receives a frame from Ink. Draws only the last frame of each turn of the event loop. */
  write(frame: string): boolean {
    this.#frame = frame;
    // Draws the first frame immediately, before the first request to the daemon.
    if (this.#shown.length === 0) this.#paint();
    else this.#schedule();
    return true;
  }

  /** Starts drawing. Redraws all lines, because the content of the terminal is unknown. */
  resume(): void {
    this.#isPaused = false;
    this.#shown = [];
    this.#terminal.write(clearScreen);
    if (this.#frame !== "") this.write(this.#frame);
  }

  /** Redraws all lines after a resize, because the terminal has moved its content. */
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
    // Clears each line before writing text: after a full line the cursor is in the last column, and clearing would delete the last
    // character.
    const changed = lines.flatMap((line, index) => (line === this.#shown[index] ? [] : [`\u001b[${index + 1};1H${clearToLineEnd}${line}`]));
    const leftOver = lines.length < this.#shown.length ? [`\u001b[${lines.length + 1};1H\u001b[J`] : [];
    this.#shown = lines;
    if (changed.length + leftOver.length === 0) return;
    this.#terminal.write([synchronized.begin, ...changed, ...leftOver, synchronized.end].join(""));
  }
}
