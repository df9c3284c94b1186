const levels = "▁▂▃▄▅▆▇█";

/**
 * Draws values as one line of blocks, from 0 to the maximum. If there are more values than columns, combines groups of values, by default
 * by their sum. Only a value of 0 has the lowest block.
 */
export function sparkline(values: readonly number[], widthColumns: number, combine: (group: readonly number[]) => number = sum): string {
  const perColumn = Math.max(1, Math.ceil(values.length / Math.max(1, widthColumns)));
  const columns = Array.from({ length: Math.ceil(values.length / perColumn) }, (_, column) =>
    combine(values.slice(column * perColumn, (column + 1) * perColumn)),
  );
  const maximum = Math.max(...columns, 0);
  return columns.map((value) => levels[value === 0 ? 0 : Math.max(1, Math.round((value / maximum) * (levels.length - 1)))]).join("");
}

/** Combines a group of values by their maximum. Use this function for values whose sum has no meaning, such as durations. */
export function largest(group: readonly number[]): number {
  return Math.max(0, ...group);
}

function sum(group: readonly number[]): number {
  return group.reduce((total, value) => total + value, 0);
}
