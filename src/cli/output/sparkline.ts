const levels = "▁▂▃▄▅▆▇█";

/**
 * Draws values as one line of blocks, from 0 to the maximum. More values than columns are summed in groups. A value of 0 has the lowest
 * block, every other value at least the second one.
 */
export function sparkline(values: readonly number[], widthColumns: number): string {
  const perColumn = Math.max(1, Math.ceil(values.length / Math.max(1, widthColumns)));
  const columns = Array.from({ length: Math.ceil(values.length / perColumn) }, (_, column) =>
    values.slice(column * perColumn, (column + 1) * perColumn).reduce((sum, value) => sum + value, 0),
  );
  const maximum = Math.max(...columns, 0);
  return columns.map((value) => levels[value === 0 ? 0 : Math.max(1, Math.round((value / maximum) * (levels.length - 1)))]).join("");
}
