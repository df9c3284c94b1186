import type UPlot from "uplot";
import type { ChartMarker } from "./chart.js";

/** Number of rows for the labels of markers that are close together. */
const markerRows = 3;

/** Horizontal range in device pixels. */
interface Extent {
  readonly left: number;
  readonly right: number;
}

/** A label of a marker, in device pixels. */
interface MarkerLabel {
  /** Position of the line of the marker. */
  readonly x: number;
  readonly width: number;
}

/** Draws a vertical line with a label for each marker. `markers` are ordered from the oldest to the newest. */
export function drawMarkers(plot: UPlot, markers: readonly ChartMarker[], color: { line: string; text: string }): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales["x"] ?? {};
  if (min === undefined || max === undefined) return;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px Inter, system-ui, sans-serif`;
  ctx.lineWidth = ratio;
  ctx.strokeStyle = color.line;
  ctx.fillStyle = color.text;
  ctx.textAlign = "left";
  const newestFirst = markers.filter(({ at }) => at >= min && at <= max).toReversed();
  const labels = newestFirst.map(({ at, type, label }) => {
    const x = Math.round(plot.valToPos(at, "x", true));
    ctx.setLineDash(type === "deploy" ? [] : [3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const text = shortened(label, bbox.width - 8 * ratio, (part) => ctx.measureText(part).width);
    return { text, x, width: ctx.measureText(text).width + 8 * ratio };
  });
  for (const [index, place] of labelPlaces(labels, { left: bbox.left, right: bbox.left + bbox.width }).entries())
    if (place) ctx.fillText(labels[index]?.text ?? "", place.left + 4 * ratio, bbox.top + (11 + place.row * 14) * ratio);
  ctx.restore();
}

/**
 * Returns the place of each label: right of its line, left of it if the plot ends there, or as far left as the plot allows. Earlier labels
 * in the list have precedence: a label that would cover another one in all rows has no place.
 */
export function labelPlaces(labels: readonly MarkerLabel[], plot: Extent): ({ row: number; left: number } | undefined)[] {
  const taken: (Extent & { row: number })[] = [];
  return labels.map(({ x, width }) => {
    const left = x + width > plot.right ? Math.max(plot.left, x - width) : x;
    const right = left + width;
    const row = Array.from({ length: markerRows }, (_, index) => index).find((index) =>
      taken.every((place) => place.row !== index || place.right <= left || place.left >= right),
    );
    if (row === undefined) return undefined;
    taken.push({ row, left, right });
    return { row, left };
  });
}

/** Returns the text, with an ellipsis instead of its start if it is wider than `room`. Its end is a version. */
export function shortened(text: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(text) <= room) return text;
  const letters = Array.from(text);
  const from = letters.findIndex((_letter, index) => widthOf(`…${letters.slice(index).join("")}`) <= room);
  return from === -1 ? "…" : `…${letters.slice(from).join("")}`;
}
