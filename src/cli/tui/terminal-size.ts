import type { WriteStream } from "node:tty";
import type { Size } from "./hooks/use-size.js";

/** How large the terminal is, and who wants to know when that changes. */
export class TerminalSize {
  readonly #terminal: WriteStream;
  #size: Size;

  constructor(terminal: WriteStream) {
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
function sizeOf({ columns, rows }: WriteStream): Size {
  return { columns: columns || 80, rows: rows || 24 };
}
