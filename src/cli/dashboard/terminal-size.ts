import type { DrawingSurface } from "./dashboard-host.js";
import type { Size } from "./hooks/use-size.js";

/** How large the terminal is, and who wants to know when that changes. */
export class TerminalSize {
  readonly #terminal: DrawingSurface;
  #size: Size;

  constructor(terminal: DrawingSurface) {
    this.#terminal = terminal;
    this.#size = sizeOf(terminal);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const onResize = () => {
      this.#size = sizeOf(this.#terminal);
      listener();
    };
    this.#terminal.on("resize", onResize);
    return () => this.#terminal.off("resize", onResize);
  };

  readonly current = (): Size => this.#size;
}

/** A terminal that does not know its size says 0. */
function sizeOf({ columns, rows }: DrawingSurface): Size {
  return { columns: columns || 80, rows: rows || 24 };
}
