import { createContext, useContext } from "react";
import type { DrawingSurface } from "../dashboard-host.js";

/** The number of terminal columns and rows that a component can use. */
export const SizeContext = createContext<Size>({ columns: 80, rows: 24 });

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

type Layout = "wide" | "medium" | "narrow";

export function useSize(): Size {
  return useContext(SizeContext);
}

/** Returns the layout of a list and its details: side by side (wide), one above the other (medium), or only one of them (narrow). */
export function useLayout(): Layout {
  const { columns } = useSize();
  if (columns >= 120) return "wide";
  return columns >= 80 ? "medium" : "narrow";
}

/** The size of the terminal. Notifies its listeners after each change of the size. */
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

/** Returns the size of the terminal. If the terminal reports 0, returns 80 columns and 24 rows. */
function sizeOf({ columns, rows }: DrawingSurface): Size {
  return { columns: columns || 80, rows: rows || 24 };
}
