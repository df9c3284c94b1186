import type { ChartSeries } from "./chart.js";

type Column = (number | null)[];

/**
 * Returns the columns for uPlot: the times, then one column per series. In a stacked chart, the column of a series contains the sums of its
 * values and of all values of earlier series.
 */
export function chartData(at: readonly number[], series: readonly ChartSeries[], isStacked: boolean): [number[], ...Column[]] {
  if (!isStacked) return [[...at], ...series.map(({ values }) => [...values])];
  const sums = at.map(() => 0);
  return [
    [...at],
    ...series.map(({ values }) =>
      at.map((_time, index) => {
        const value = values[index];
        sums[index] = (sums[index] ?? 0) + (value ?? 0);
        // A series without a value at this time gets a gap, even if an earlier series has a value.
        return value === null || value === undefined ? null : (sums[index] ?? 0);
      }),
    ),
  ];
}
