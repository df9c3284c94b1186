import { alternate } from "./rounds.mjs";
import { throughputRows } from "./rows.mjs";

/** Warms both sides up, loads them in alternating rounds, and returns the rows. `target` is what both get, apart from the address. */
export async function compareLoad(stage, row, { ours, theirs, target = {} }) {
  const sides = { ours: { ...target, ...ours }, theirs: { ...target, ...theirs } };
  for (const side of Object.values(sides)) await stage.load.warmUp(stage, side);
  const figures = await alternate(stage.settings.rounds, {
    ours: () => stage.load.measure(stage, sides.ours),
    theirs: () => stage.load.measure(stage, sides.theirs),
  });
  return throughputRows(row, figures.ours, figures.theirs);
}
