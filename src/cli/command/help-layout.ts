import type { Terminal } from "../output/output.js";

/** How help is laid out. */
export interface HelpStyle {
  readonly widthColumns: number;
  readonly hasColor: boolean;
}

/** For a terminal: in color only where help itself is seen there, and not in a pipe. */
export function helpStyleOf({ widthColumns, hasColor, stdoutIsTty }: Terminal): HelpStyle {
  return { widthColumns, hasColor: hasColor && stdoutIsTty };
}

const leastWidth = 40;
/** Longer lines are hard to read. */
const mostWidth = 110;
/** Of the width, for the words on the left; longer ones stand on a line of their own. */
const leftShare = 0.42;

/** Parts with a title each. */
export function sections(parts: readonly (readonly [title: string, body: string])[], { hasColor }: HelpStyle): string {
  return `${parts.map(([title, body]) => `${hasColor ? `\x1b[1m${title}:\x1b[0m` : `${title}:`}\n${body}`).join("\n\n")}\n`;
}

/** Words and what they mean, in two columns within the width of the terminal. */
export function columns(rows: readonly (readonly [left: string, right: string])[], style: HelpStyle): string {
  const width = widthOf(style);
  const fitting = rows.map(([left]) => left.length).filter((length) => length <= width * leftShare);
  const leftWidth = Math.max(0, ...fitting);
  const indent = " ".repeat(leftWidth + 4);
  return rows
    .map(([left, right]) => {
      const [first = "", ...others] = wrapped(right, width - indent.length);
      const further = others.map((line) => `\n${indent}${line}`).join("");
      return left.length <= leftWidth ? `  ${left.padEnd(leftWidth)}  ${first}${further}` : `  ${left}\n${indent}${first}${further}`;
    })
    .join("\n");
}

/** Lines of running text within the width of the terminal, indented unless `indent` says otherwise. */
export function paragraphs(text: string, style: HelpStyle, indent = "  "): string {
  return text
    .split("\n")
    .flatMap((line) => wrapped(line, widthOf(style) - indent.length))
    .map((line) => indent + line)
    .join("\n");
}

function widthOf({ widthColumns }: HelpStyle): number {
  return Math.min(mostWidth, Math.max(leastWidth, widthColumns));
}

/** A word that is longer than a line keeps its length: it may be a command to copy. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
