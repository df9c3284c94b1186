import { useEffect, useEffectEvent, useRef, useState } from "react";
import UPlot from "uplot";
import type { ChartMarker, ChartProps } from "./chart.js";
import { chartData } from "./chart-data.js";
import { drawMarkers } from "./chart-markers.js";

export interface ChartCanvasProps extends Pick<ChartProps, "at" | "series" | "format"> {
  readonly markers: readonly ChartMarker[];
  readonly height: number;
  readonly isStacked: boolean;
  readonly syncKey: string | undefined;
  /**
   * Callback that receives the index of the data point under the mouse pointer. Receives undefined if the mouse pointer is outside of the
   * plot.
   */
  readonly onPoint: (index: number | undefined) => void;
}

const daySeconds = 86_400;
/** Allowed distances between two time labels on the axis, in seconds. uPlot chooses one of them. */
const timeSteps = [
  1,
  5,
  10,
  15,
  30,
  60,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10_800,
  21_600,
  43_200,
  daySeconds,
  2 * daySeconds,
  7 * daySeconds,
];
const timeOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const timeWithSeconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const axisFont = "11px Inter, system-ui, sans-serif";

/**
 * The plot of a chart, drawn with uPlot. If the theme or the list of series changes, the component draws a new plot. New values only update
 * the existing plot.
 */
export function ChartCanvas({ at, series, markers, format, height, isStacked, syncKey, onPoint }: ChartCanvasProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const shownMarkers = useRef(markers);
  const themeChanges = useThemeChanges();
  const point = useEffectEvent(onPoint);
  const formatNow = useEffectEvent(format);
  const dataNow = useEffectEvent(() => chartData(at, series, isStacked));
  const shape = series.map(({ label, color }) => `${label} ${color}`).join("|");
  useEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const colorOf = (token: string) => computedColor(current, token);
    const options: UPlot.Options = {
      width: current.clientWidth,
      height,
      legend: { show: false },
      cursor: {
        y: false,
        points: { size: 7 },
        drag: { x: false, y: false },
        ...(syncKey === undefined ? {} : { sync: { key: syncKey } }),
      },
      scales: {
        // Draws a single point in the middle of a minute. By default, its axis would extend to the next day.
        x: { range: ({ data: [times] }, min, max) => (times.length === 1 ? [min - 30, min + 30] : [min, max]) },
        y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        {
          stroke: colorOf("--text-quiet"),
          font: axisFont,
          grid: { show: false },
          ticks: { stroke: colorOf("--line"), width: 1, size: 4 },
          values: (_plot, splits) => timeTexts(splits),
          incrs: [...timeSteps],
          size: 28,
          space: 80,
        },
        {
          stroke: colorOf("--text-quiet"),
          font: axisFont,
          grid: { stroke: colorOf("--line"), width: 1 },
          ticks: { show: false },
          values: (_plot, splits) => splits.map((value) => formatNow(value)),
          size: 64,
          space: 40,
        },
      ],
      series: [
        {},
        ...shape.split("|").map((entry): UPlot.Series => {
          const color = colorOf(entry.slice(entry.lastIndexOf(" ") + 1));
          return {
            stroke: color,
            width: 1.5,
            points: { show: false, size: 4, fill: color, filter: lonelyPoints },
            ...(isStacked ? { fill: withAlpha(color) } : {}),
          };
        }),
      ],
      ...(isStacked
        ? {
            bands: shape
              .split("|")
              .slice(1)
              .map((_entry, index) => ({ series: [index + 2, index + 1] as [number, number] })),
          }
        : {}),
      hooks: {
        draw: [(drawn) => drawMarkers(drawn, shownMarkers.current, { line: colorOf("--line-strong"), text: colorOf("--text-quiet") })],
        setCursor: [({ cursor }) => point(cursor.idx ?? undefined)],
      },
    };
    const drawn = new UPlot(options, dataNow(), current);
    plot.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [shape, height, isStacked, syncKey, themeChanges]);
  useEffect(() => {
    shownMarkers.current = markers;
    plot.current?.setData(chartData(at, series, isStacked));
  }, [at, series, markers, isStacked]);
  return <div ref={box} />;
}

/** Returns a number that increases each time the colors of the page change. */
function useThemeChanges(): number {
  const [themeChanges, setThemeChanges] = useState(0);
  useEffect(() => {
    const change = () => setThemeChanges((count) => count + 1);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
    for (const query of queries) query.addEventListener("change", change);
    return () => {
      observer.disconnect();
      for (const query of queries) query.removeEventListener("change", change);
    };
  }, []);
  return themeChanges;
}

/**
 * Returns the color of a design token in the current theme. The token's value contains the colors of both themes, so the browser must
 * compute the color.
 */
function computedColor(place: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  // Without this setting, the browser's forced-colors mode would draw all series in the same color. The legend also keeps its colors in
  // this mode.
  probe.style.setProperty("forced-color-adjust", "none");
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/**
 * Returns the indexes of the points that have a gap on both sides. The chart draws these points as dots, because a line needs two
 * neighboring points.
 */
function lonelyPoints(plot: UPlot, seriesIndex: number): number[] {
  const values = plot.data[seriesIndex] ?? [];
  const isGap = (index: number) => values[index] === null || values[index] === undefined;
  return [...values.keys()].filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1));
}

function withAlpha(color: string): string {
  return `color-mix(in srgb, ${color} 24%, transparent)`;
}

function timeTexts(splits: readonly number[]): string[] {
  const [first = 0, second = first, last = second] = [splits[0], splits[1], splits.at(-1)];
  const format = last - first > 2 * daySeconds ? day : second - first < 60 ? timeWithSeconds : timeOfDay;
  return splits.map((split) => format.format(split * 1000));
}
