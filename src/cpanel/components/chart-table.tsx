import type { ChartMarker, ChartProps } from "./chart.js";
import { ScrollRegion } from "./scroll-region.js";

/** Maximum number of rows. If a chart has more points, the table shows only every second point, every third point, and so on. */
const mostRows = 60;
const time = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

interface ChartTableProps extends Pick<ChartProps, "title" | "at" | "series"> {
  readonly markers: readonly ChartMarker[];
  readonly textOf: (value: number | null | undefined) => string;
}

/**
 * A table with the values of a chart, newest first. The last column lists the deployments and restarts between a row and the next older
 * row.
 */
export function ChartTable({ title, at, series, markers, textOf }: ChartTableProps) {
  const step = Math.max(1, Math.ceil(at.length / mostRows));
  const shown = [...at.keys()].toReversed().filter((_, position) => position % step === 0);
  const between = (index: number) =>
    markers.filter((marker) => marker.at <= (at[index] ?? 0) && marker.at > (at[index - step] ?? -Infinity));
  return (
    <ScrollRegion label={`Values of ${title}`} className="chart-table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            {markers.length > 0 && <th scope="col">Event</th>}
          </tr>
        </thead>
        <tbody>
          {shown.map((index) => (
            <tr key={at[index]}>
              <th scope="row">{time.format((at[index] ?? 0) * 1000)}</th>
              {series.map(({ label, values }) => (
                <td key={label}>{textOf(values[index])}</td>
              ))}
              {markers.length > 0 && (
                <td>
                  {between(index)
                    .map(({ type, label }) => (type === label ? label : `${type} ${label}`))
                    .join(", ")}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
