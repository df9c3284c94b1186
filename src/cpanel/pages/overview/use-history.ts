import { useRef } from "react";

/** 2 minutes with one response every 2 s. */
const mostPoints = 60;

export interface Point {
  readonly atMs: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly isolates: number;
}

/** Converts the responses to points of a chart. Rates are differences between two responses. */
export function useHistory(
  atMs: number | undefined,
  now: { readonly requests: number; readonly isolates: number } | undefined,
): readonly Point[] {
  const points = useRef<readonly Point[]>([]);
  const last = points.current.at(-1);
  if (atMs !== undefined && now && last?.atMs !== atMs) {
    // A lower count means that the daemon was restarted.
    const perSecond = last && now.requests >= last.requests ? (now.requests - last.requests) / ((atMs - last.atMs) / 1000) : 0;
    points.current = [...points.current, { ...now, atMs, perSecond }].slice(-mostPoints);
  }
  return points.current;
}
