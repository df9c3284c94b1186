const panel = { width: 440, height: 150, left: 52, right: 12, top: 26, bottom: 24 };
const columns = 2;
/** The colors follow the reader's theme, so that the picture is readable on a light and on a dark background. */
const style = `
  text { font: 11px system-ui, sans-serif; fill: #555; }
  .title { font-weight: 600; fill: #222; }
  .axis { stroke: #bbb; stroke-width: 1; }
  .trouble { fill: #e8590c; opacity: 0.08; }
  .line { fill: none; stroke: #1c7ed6; stroke-width: 1.5; stroke-linejoin: round; }
  .line-1 { stroke: #2f9e44; }
  .line-2 { stroke: #ae3ec9; }
  @media (prefers-color-scheme: dark) {
    text { fill: #aaa; }
    .title { fill: #eee; }
    .axis { stroke: #555; }
    .trouble { opacity: 0.16; }
    .line { stroke: #74c0fc; }
    .line-1 { stroke: #8ce99a; }
    .line-2 { stroke: #e599f7; }
  }`;

/**
 * Returns the samples as an SVG picture with one panel per figure. The background is colored during the `periods` with faults. A figure has
 * one line for its `field`, or one for each of its `fields` (up to three). `axis` is the horizontal axis: `valueOf` returns the value of a
 * sample, and `marks` has values with their labels.
 */
export function plot(samples, figures, periods, axis = timeAxis(samples)) {
  const rows = Math.ceil(figures.length / columns);
  const panels = figures.map((figure, index) => {
    const x = (index % columns) * panel.width;
    const y = Math.floor(index / columns) * panel.height;
    return `<g transform="translate(${x} ${y})">${drawPanel(samples, figure, { periods, axis })}</g>`;
  });
  const size = `width="${columns * panel.width}" height="${rows * panel.height}" viewBox="0 0 ${columns * panel.width} ${rows * panel.height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n<style>${style}\n</style>\n${panels.join("\n")}\n</svg>\n`;
}

function drawPanel(samples, { field, fields = [field], title, digits }, { periods, axis }) {
  const last = axis.valueOf(samples.at(-1));
  const highest = niceCeiling(Math.max(...samples.flatMap((sample) => fields.map((name) => sample[name])), 1));
  const innerWidth = panel.width - panel.left - panel.right;
  const innerHeight = panel.height - panel.top - panel.bottom;
  const bottom = panel.height - panel.bottom;
  const x = (value) => (panel.left + (value / last) * innerWidth).toFixed(1);
  const y = (value) => (bottom - (value / highest) * innerHeight).toFixed(1);
  const pointsOf = (name) => samples.map((sample) => `${x(axis.valueOf(sample))},${y(sample[name])}`).join(" ");
  const tint = ({ fromMs, toMs }) =>
    `<rect class="trouble" x="${x(fromMs)}" y="${panel.top}" width="${(x(toMs) - x(fromMs)).toFixed(1)}" height="${innerHeight}"/>`;
  const label = (value) =>
    `<text x="${panel.left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${value.toFixed(highest < 10 ? digits : 0)}</text>`;
  return [
    ...periods.map(tint),
    `<text class="title" x="${panel.left}" y="${panel.top - 9}">${title}</text>`,
    `<path class="axis" fill="none" d="M${panel.left} ${panel.top}V${bottom}H${panel.width - panel.right}"/>`,
    ...[0, highest / 2, highest].map(label),
    ...axis.marks.map(([value, text]) => `<text x="${x(value)}" y="${bottom + 15}" text-anchor="middle">${text}</text>`),
    ...fields.map((name, index) => `<polyline class="line line-${index}" points="${pointsOf(name)}"/>`),
  ].join("");
}

function timeAxis(samples) {
  const marks = minuteMarks(samples.at(-1).timeMs).map((minute) => [minute * 60_000, `${minute} min`]);
  return { valueOf: ({ timeMs }) => timeMs, marks };
}

function minuteMarks(lastMs) {
  const minutes = lastMs / 60_000;
  const step = [0.5, 1, 2, 5, 10, 30].find((candidate) => minutes / candidate <= 7) ?? 60;
  return Array.from({ length: Math.floor(minutes / step) + 1 }, (_, index) => index * step);
}

/** Returns the next number of the series 1, 2, 4, 5, 6, 8, 10, multiplied by a power of ten. */
function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 6, 8].find((step) => value <= step * power) ?? 10) * power;
}
