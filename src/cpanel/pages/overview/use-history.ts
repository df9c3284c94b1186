import { useRef } from "react";

/** Two minutes at one answer every two seconds. */
const mostPoints = 60;

export interface Point {
  readonly atMs: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly isolates: number;
}

/** The answers so far as points of a plot; rates are differences between two answers. */
export function useHistory(
  atMs: number | undefined,
  now: { readonly requests: number; readonly isolates: number } | undefined,
): readonly Point[] {
  const points = useRef<readonly Point[]>([]);
  const last = points.current.at(-1);
  if (atMs !== undefined && now && last?.atMs !== atMs) {
    // Fewer than before: the daemon was started again.
    const perSecond = last && now.requests >= last.requests ? (now.requests - last.requests) / ((atMs - last.atMs) / 1000) : 0;
    points.current = [...points.current, { ...now, atMs, perSecond }].slice(-mostPoints);
  }
  return points.current;
}
