/**
 * Measures every side once a round, one after the other (A B A B …), so that what slows the machine down for a while slows all of them.
 * `sides` maps a name to a function; returns the figures of each, in the order of the rounds.
 */
export async function alternate(rounds, sides) {
  const figures = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [side, measure] of Object.entries(sides)) figures[side].push(await measure(round));
  }
  return figures;
}

export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Undefined of nothing. */
export function p99(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * 0.99)];
}

/** The ratio is taken within each round; the median of these is what counts. */
export function medianRatio(ours, theirs) {
  return median(ours.map((value, round) => value / theirs[round]));
}
