// Converts the cells of a terminal to an HTML page.

const background = "#111418";
const foreground = "#d6dae0";
/** The 16 colors of the terminal, in the order of their numbers. */
const palette = [
  "#1b1f24",
  "#f2757f",
  "#7fc98a",
  "#e3b45c",
  "#79aef2",
  "#c792e0",
  "#5fc4cf",
  "#c5cad1",
  "#757d88",
  "#ff9aa2",
  "#a1e0a9",
  "#f5cf85",
  "#a3c8ff",
  "#dcb3ef",
  "#8fe0e8",
  "#ffffff",
];
const cubeLevels = [0, 95, 135, 175, 215, 255];

/** Returns a page whose element `screen` shows the visible screen of an xterm.js terminal. `font` is a WOFF2 file in Base64. */
export function screenPage(terminal, font) {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: terminal.rows }, (_, row) => lineHtml(active.getLine(active.baseY + row), terminal.cols));
  return `<!doctype html><meta charset="utf-8"><style>
@font-face { font-family: Terminal; font-weight: 100 800; src: url(data:font/woff2;base64,${font}) }
body { margin: 0; background: ${background}; }
#screen { display: inline-block; padding: 12px 14px; background: ${background}; color: ${foreground}; }
div.line { height: 18px; white-space: pre; font: 13px/18px Terminal, "DejaVu Sans Mono", monospace; font-variant-ligatures: none; }
span { display: inline-block; height: 18px; vertical-align: top; overflow: visible; }
</style><div id="screen">${lines.join("")}</div>`;
}

/** Returns a line as spans of cells with the same style. A cell that the font does not contain has a span of its own with its width. */
function lineHtml(line, columns) {
  const spans = [];
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    if (!cell || cell.getWidth() === 0) continue;
    const text = cell.getChars() || " ";
    const style = styleOf(cell);
    const last = spans.at(-1);
    const isPlain = /^[ -~]$/.test(text);
    if (last?.style === style && last.isPlain && isPlain) Object.assign(last, { text: last.text + text, width: last.width + 1 });
    else spans.push({ text, style, isPlain, width: cell.getWidth() });
  }
  const html = spans.map(({ text, style, width }) => `<span style="width:calc(${width} * 1ch);${style}">${escapeHtml(text)}</span>`);
  return `<div class="line">${html.join("")}</div>`;
}

function styleOf(cell) {
  const front = colorOf(cell.isFgRGB(), cell.isFgDefault(), cell.getFgColor()) ?? foreground;
  const back = colorOf(cell.isBgRGB(), cell.isBgDefault(), cell.getBgColor());
  const [color, fill] = cell.isInverse() ? [back ?? background, front] : [front, back];
  return [
    `color:${color}`,
    fill === undefined ? "" : `background:${fill}`,
    cell.isBold() ? "font-weight:700" : "",
    cell.isDim() ? "opacity:.62" : "",
    cell.isUnderline() ? "text-decoration:underline" : "",
  ]
    .filter(Boolean)
    .join(";");
}

/** Returns a CSS color. Undefined for the default color of the terminal. */
function colorOf(isRgb, isDefault, value) {
  if (isDefault) return undefined;
  if (isRgb) return `#${value.toString(16).padStart(6, "0")}`;
  if (value < 16) return palette[value];
  if (value >= 232) return gray((value - 232) * 10 + 8);
  const cube = value - 16;
  const levels = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((level) => cubeLevels[level]);
  return `rgb(${levels.join(" ")})`;
}

function gray(level) {
  return `rgb(${level} ${level} ${level})`;
}

function escapeHtml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
