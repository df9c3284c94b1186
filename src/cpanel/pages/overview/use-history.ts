import { useRef } from "react";

/** Maximum number of points in a chart: 2 minutes with one point every 2 s. */
export const mostPoints = 60;

export interface Point {
  readonly atMs: number;
  readonly requests: number;
  readonly perSecond: number;
  readonly isolates: number;
}

/** Converts successive responses to points of a chart. The request rate is calculated from the difference between two responses. */
export function useHistory(
  atMs: number | undefined,
  now: { readonly requests: number; readonly isolates: number } | undefined,
): readonly Point[] {
  const points = useRef<readonly Point[]>([]);
  const last = points.current.at(-1);
  if (atMs !== undefined && now && last?.atMs !== atMs) {
    // Uses the rate 0 if the request count is lower than before, because the daemon was restarted.
    const perSecond = last && now.requests >= last.requests ? (now.requests - last.requests) / ((atMs - last.atMs) / 1000) : 0;
    points.current = [...points.current, { ...now, atMs, perSecond }].slice(-mostPoints);
  }
  return points.current;
}
