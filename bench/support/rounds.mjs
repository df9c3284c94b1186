/**
 * Measures all sides in each round, one after the other (A B A B …), so that other load of the machine affects all sides equally. `sides`
 * maps a name to a function. Returns the results of each side in the order of the rounds.
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

/** Returns undefined for an empty list. */
export function p99(values) {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * 0.99)];
}

/** Computes the ratio within each round and returns the median of these ratios. */
export function medianRatio(ours, theirs) {
  return median(ours.map((value, round) => value / theirs[round]));
}
