import { afterAll } from "vitest";

/** Counts the points of a sweep and the kills at them. Prints both at the end of the file. */
export function sweepTotals(): { points: number; kills: number } {
  const totals = { points: 0, kills: 0 };
  const startedAt = performance.now();
  afterAll(() => {
    const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
    process.stdout.write(`\n${totals.points} points, ${totals.kills} kills, ${minutes} minutes\n`);
  });
  return totals;
}
