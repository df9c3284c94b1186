import { lazy, Suspense, useId, useState, type ComponentType } from "react";
import type { ChartCanvasProps } from "./chart-canvas.js";
import { ChartTable } from "./chart-table.js";
import "uplot/dist/uPlot.min.css";
import "./card.css";
import "./chart.css";

/**
 * The browser loads the code of uPlot when a page shows the first chart. If loading fails, the legend and the table still show the values.
 */
const ChartCanvas = lazy(async (): Promise<{ default: ComponentType<ChartCanvasProps> }> => ({
  default: await loadCanvas().catch(() => Nothing),
}));

export interface ChartSeries {
  readonly label: string;
  /** Design token with the color of the line, such as `--chart-p99`. */
  readonly color: `--${string}`;
  /** One value for each point in time. `null` leaves a gap in the line. */
  readonly values: readonly (number | null)[];
}

export interface ChartMarker {
  /** Time of the event in Unix seconds. */
  readonly at: number;
  /** Kind of event. The chart draws a solid line for a deployment, and a dashed line for a restart or start. */
  readonly type: "deploy" | "restart" | "start";
  /** Text beside the line of the event, such as `1.4.2` or `restart`. */
  readonly label: string;
}

export interface ChartProps {
  readonly title: string;
  /** Points in time as Unix seconds, oldest first. */
  readonly at: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly markers?: readonly ChartMarker[];
  /** Returns a value with its unit, for the axis, the legend and the table. */
  readonly format: (value: number) => string;
  /** Height of the plot in pixels. Default: 220. */
  readonly height?: number;
  /** Whether the chart stacks the series. Useful if the values of the series are parts of a sum. */
  readonly isStacked?: boolean;
  /**
   * Name of a group of charts. If the user points at one chart of the group, all charts of the group show the crosshair at the same time.
   */
  readonly syncKey?: string;
}

const clock = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const none: readonly ChartMarker[] = [];

/** A card with a line chart over time, a legend with the values at the pointer and their time, and a table with the same values. */
export function Chart({ title, at, series, markers = none, format, height = 220, isStacked = false, syncKey }: ChartProps) {
  const id = useId();
  const [pointed, setPointed] = useState<number>();
  const shown = pointed ?? at.length - 1;
  const time = at[shown];
  return (
    <section className="card chart" aria-labelledby={id}>
      <div className="chart-head">
        <h2 id={id}>{title}</h2>
        <ul className="chart-legend small">
          {series.map(({ label, color, values }) => (
            <li key={label}>
              <span className="chart-mark" style={{ background: `var(${color})` }} aria-hidden="true" />
              {label} <span className="chart-value">{valueText(values[shown], format)}</span>
            </li>
          ))}
          {time !== undefined && <li className="chart-time">at {clock.format(time * 1000)}</li>}
        </ul>
      </div>
      {at.length === 0 && <p className="chart-empty quiet">There are no values in this period yet.</p>}
      <div className="chart-plot" style={{ height: at.length === 0 ? 0 : height }} aria-hidden="true">
        {at.length > 0 && (
          <Suspense>
            <ChartCanvas
              at={at}
              series={series}
              markers={markers}
              format={format}
              height={height}
              isStacked={isStacked}
              syncKey={syncKey}
              onPoint={setPointed}
            />
          </Suspense>
        )}
      </div>
      <details className="chart-details small">
        <summary>Table of {title.charAt(0).toLowerCase() + title.slice(1)}</summary>
        <ChartTable title={title} at={at} series={series} markers={markers} textOf={(value) => valueText(value, format)} />
      </details>
    </section>
  );
}

async function loadCanvas(): Promise<ComponentType<ChartCanvasProps>> {
  return (await import("./chart-canvas.js")).ChartCanvas;
}

function Nothing() {
  return null;
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}
