import { alternate } from "./rounds.mjs";
import { throughputRows } from "./rows.mjs";

/** Loads both sides and returns the rows. `target` describes the requests to both sides, without the address. */
export async function compareLoad(stage, row, { ours, theirs, target = {} }) {
  const figures = await loadInTurn(stage, { ours, theirs }, target);
  return throughputRows(row, figures.ours, figures.theirs);
}

/**
 * Returns the figures of all sides, after a warm-up, with rounds that alternate between the sides. `target` describes the requests to all
 * sides, without the address.
 */
export async function loadInTurn(stage, sides, target = {}) {
  const targets = Object.entries(sides).map(([title, side]) => [title, { ...target, ...side }]);
  for (const [, side] of targets) await stage.load.warmUp(stage, side);
  const measures = targets.map(([title, side]) => [title, () => stage.load.measure(stage, side)]);
  return await alternate(stage.settings.rounds, Object.fromEntries(measures));
}
