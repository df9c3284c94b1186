import { createContext, useContext } from "react";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The room that a component may fill. */
export const SizeContext = createContext<Size>({ columns: 80, rows: 24 });

export type Layout = "wide" | "medium" | "narrow";

export function useSize(): Size {
  return useContext(SizeContext);
}

/** How list and detail share the room: side by side, one below the other, or one at a time. */
export function useLayout(): Layout {
  const { columns } = useSize();
  if (columns >= 120) return "wide";
  return columns >= 80 ? "medium" : "narrow";
}
