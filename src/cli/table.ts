import { printable } from "./printable.js";

const wideCharacter =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const columnGap = "  ";

/** Aligned columns under a heading for people. Columns that do not fit are left out from the right; of the first, what fits stays. */
export function alignedTable(headings: readonly string[], rows: readonly (readonly string[])[], widthColumns: number): string {
  const lines = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ""))));
  let shown = widths.length;
  while (shown > 1 && totalWidth(widths.slice(0, shown)) > widthColumns) shown -= 1;
  return lines
    .map((line) =>
      line
        .slice(0, shown)
        .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - displayWidth(cell)))
        .join(columnGap)
        .trimEnd(),
    )
    .map((line) => shortened(line, widthColumns))
    .join("\n");
}

/** Values between tabs, one row a line, no heading: for cut, awk and friends. */
export function tabSeparated(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(printable).join("\t")).join("\n");
}

function shortened(line: string, widthColumns: number): string {
  if (displayWidth(line) <= widthColumns) return line;
  let [kept, width] = ["", 1];
  for (const character of line) {
    width += displayWidth(character);
    if (width > widthColumns) break;
    kept += character;
  }
  return `${kept}…`;
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + columnGap.length * (widths.length - 1);
}

function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += wideCharacter.test(character) ? 2 : 1;
  return width;
}
