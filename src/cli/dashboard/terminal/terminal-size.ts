import { createContext, useContext } from "react";
import type { DrawingSurface } from "../dashboard-host.js";

/** The room that a component may fill. */
export const SizeContext = createContext<Size>({ columns: 80, rows: 24 });

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

type Layout = "wide" | "medium" | "narrow";

export function useSize(): Size {
  return useContext(SizeContext);
}

/** How list and detail share the room: side by side, one below the other, or one at a time. */
export function useLayout(): Layout {
  const { columns } = useSize();
  if (columns >= 120) return "wide";
  return columns >= 80 ? "medium" : "narrow";
}

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
