import { useEffect, useRef, useState, type RefObject } from "react";

/** Number of rows to render above and below the visible part, so that fast scrolling shows no gaps. */
const spareRows = 12;
/** The range of rendered rows changes only in steps of this number of rows. Most scroll events thus change nothing. */
const stepRows = 6;

export interface VisibleRows {
  /** The element whose top is the top of the first row. */
  readonly body: RefObject<HTMLTableSectionElement | null>;
  /** Index of the first row to render. */
  readonly first: number;
  /** Index after the last row to render. */
  readonly end: number;
}

/**
 * Returns the rows of a long list that are visible in the window. All rows have the same height. If the height is undefined, returns all
 * rows.
 */
export function useVisibleRows(count: number, rowHeightPx: number | undefined): VisibleRows {
  const body = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState({ first: 0, end: 60 });
  useEffect(() => {
    if (rowHeightPx === undefined) return undefined;
    const look = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const next = rangeAt({ topPx: top, windowPx: innerHeight, rowHeightPx });
      setRange((known) => (known.first === next.first && known.end === next.end ? known : next));
    };
    look();
    const end = new AbortController();
    addEventListener("scroll", look, { passive: true, signal: end.signal });
    addEventListener("resize", look, { signal: end.signal });
    return () => end.abort();
  }, [rowHeightPx, count]);
  if (rowHeightPx === undefined) return { body, first: 0, end: count };
  const last = Math.min(count, range.end);
  // After the user filters a list, the list can have fewer rows than `range.first`. The last rows are then rendered.
  return { body, first: Math.max(0, Math.min(range.first, last - stepRows)), end: last };
}

/** Returns the range of rows to render. `topPx` is the distance of the list's top from the top of the window. */
export function rangeAt({ topPx, windowPx, rowHeightPx }: { topPx: number; windowPx: number; rowHeightPx: number }): {
  first: number;
  end: number;
} {
  const firstVisible = Math.max(0, Math.floor(-topPx / rowHeightPx));
  const endVisible = Math.max(0, Math.ceil((windowPx - topPx) / rowHeightPx));
  const first = Math.max(0, Math.floor((firstVisible - spareRows) / stepRows) * stepRows);
  return { first, end: Math.ceil((endVisible + spareRows) / stepRows) * stepRows };
}
