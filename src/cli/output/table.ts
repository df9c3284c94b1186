import { sanitizeForTerminal } from "./sanitize-for-terminal.js";
import { stateNames, stateStyle, styled } from "./styles.js";

const wideCharacter =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const columnGap = "  ";
/** Minimum width of a table column in terminal columns. A table column is not shortened below this width. */
const shortestColumn = 20;

export interface TableStyle {
  readonly widthColumns: number;
  readonly hasColor: boolean;
}

/**
 * Formats rows as aligned columns with a bold heading and colored states. If the columns do not fit, first shortens the widest columns and
 * then omits columns from the right.
 */
export function alignedTable(headings: readonly string[], rows: readonly (readonly string[])[], style: TableStyle): string {
  const lines = [headings, ...rows.map((row) => row.map(sanitizeForTerminal))];
  const contentWidths = headings.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ""))));
  const widths = shortenedWidths(contentWidths, style.widthColumns);
  let shown = widths.length;
  while (shown > 1 && totalWidth(widths.slice(0, shown)) > style.widthColumns) shown -= 1;
  return lines
    .map((line, row) => {
      const cells = line.slice(0, shown);
      const lastColumn = cells.findLastIndex((cell) => cell !== "");
      return cells
        .slice(0, lastColumn + 1)
        .map((cell, column) => {
          const text = shortened(cell, Math.min(widths[column] ?? 0, style.widthColumns));
          const padding = column === lastColumn ? "" : " ".repeat((widths[column] ?? 0) - displayWidth(text));
          return styled(row === 0 ? "bold" : cellStyle(headings[column], cell), text, style) + padding;
        })
        .join(columnGap)
        .trimEnd();
    })
    .join("\n");
}

/** Shortens the widest column by one character at a time, until the table fits or all columns have at most `shortestColumn` characters. */
function shortenedWidths(contentWidths: readonly number[], widthColumns: number): number[] {
  const widths = [...contentWidths];
  for (let excess = totalWidth(widths) - widthColumns; excess > 0; excess -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= shortestColumn) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function cellStyle(heading: string | undefined, cell: string) {
  return heading !== undefined && stateNames.has(heading) ? stateStyle(cell) : undefined;
}

/** Formats rows as tab-separated values, for tools such as cut and awk. */
export function tabSeparated(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(sanitizeForTerminal).join("\t")).join("\n");
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

/** Names and values of an item's properties. Output omits a property whose value is undefined. */
export type Facts = readonly (readonly [name: string, value: string | undefined])[];

/** Returns the properties with a defined value, with control characters escaped. */
export function knownFacts(facts: Facts): [name: string, value: string][] {
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, sanitizeForTerminal(value)]]));
}

/** Formats the properties of one item in two columns, with colored states. */
export function factLines(facts: Facts, style: { readonly hasColor: boolean }): string {
  const known = knownFacts(facts);
  const width = Math.max(...known.map(([name]) => name.length));
  return known
    .map(([name, value]) => {
      const shown = styled(stateNames.has(name) ? stateStyle(value) : undefined, value, style);
      return `${styled("bold", name, style)}${" ".repeat(width - name.length)}  ${shown}`.trimEnd();
    })
    .join("\n");
}
