import type { DrawingSurface } from "../dashboard-host.js";

const synchronized = { begin: "\u001b[?2026h", end: "\u001b[?2026l" };
const clearToLineEnd = "\u001b[K";
const clearScreen = "\u001b[2J";

/**
 * Output stream for Ink. Receives whole frames and writes only changed lines, at absolute positions. Ink's own writer clears the
 * scrollback, and uses relative positions, which are wrong after a resize.
 */
export class TerminalPainter {
  readonly #terminal: DrawingSurface;
  #shown: readonly string[] = [];
  #isPaused = true;
  #frame = "";
  #isScheduled = false;
  /** Property that Ink requires of its output stream. */
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

  /** Receives a frame from Ink. If several frames arrive within one turn of the event loop, draws only the last. */
  write(frame: string): boolean {
    this.#frame = frame;
    // Draws the first frame immediately, so that the user sees the dashboard before the first request to the daemon.
    if (this.#shown.length === 0) this.#paint();
    else this.#schedule();
    return true;
  }

  /** Starts drawing. Draws all lines, because the terminal can contain any other text. */
  resume(): void {
    this.#isPaused = false;
    this.#shown = [];
    this.#terminal.write(clearScreen);
    if (this.#frame !== "") this.write(this.#frame);
  }

  /** Draws all lines again after a resize, because the terminal has moved them. */
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
    // Clears a line before writing its text. After a full line, the cursor stays on the last column, and clearing would delete the last
    // character.
    const changed = lines.flatMap((line, index) => (line === this.#shown[index] ? [] : [`\u001b[${index + 1};1H${clearToLineEnd}${line}`]));
    const leftOver = lines.length < this.#shown.length ? [`\u001b[${lines.length + 1};1H\u001b[J`] : [];
    this.#shown = lines;
    if (changed.length + leftOver.length === 0) return;
    this.#terminal.write([synchronized.begin, ...changed, ...leftOver, synchronized.end].join(""));
  }
}
