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
    ...series.map(({ values }) => {
      const below = [...sums];
      return at.map((_time, index) => {
        const value = values[index];
        sums[index] = (sums[index] ?? 0) + (value ?? 0);
        // A series without a value at this time gets a gap, even if an earlier series has a value.
        return value === null || value === undefined || coversEarlier(values, below, index) ? null : (sums[index] ?? 0);
      });
    }),
  ];
}

/**
 * Returns whether the line of a series would only cover the line of an earlier series: the value is 0 on top of a sum above 0. A 0 beside
 * another value remains, because the line between both has a color of its own.
 */
function coversEarlier(values: ChartSeries["values"], below: readonly number[], index: number): boolean {
  const isEmpty = (position: number) => (values[position] ?? 0) === 0;
  return (below[index] ?? 0) > 0 && [index - 1, index, index + 1].every((position) => isEmpty(position));
}
