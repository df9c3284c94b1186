import type { Terminal } from "../output/output.js";

/** Width and color of the help text. */
export interface HelpStyle {
  readonly widthColumns: number;
  readonly hasColor: boolean;
}

/** Returns the style of the help for a terminal. In a pipe, the help has no color. */
export function helpStyleOf({ widthColumns, hasColor, stdoutIsTty }: Terminal): HelpStyle {
  return { widthColumns, hasColor: hasColor && stdoutIsTty };
}

const leastWidth = 40;
/** Maximum width of the help in columns. Longer lines are hard to read. */
const mostWidth = 110;
/** Maximum share of the help's width for the left column. If a term is longer, its description starts on the next line. */
const leftShare = 0.42;

/** Joins the sections of a help text. Each section is a title and a body. */
export function sections(parts: readonly (readonly [title: string, body: string])[], { hasColor }: HelpStyle): string {
  return `${parts.map(([title, body]) => `${hasColor ? `\x1b[1m${title}:\x1b[0m` : `${title}:`}\n${body}`).join("\n\n")}\n`;
}

/** Formats terms and their descriptions in two columns. No line is wider than the terminal. */
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

/** Wraps text to the terminal width and indents each line. */
export function paragraphs(text: string, style: HelpStyle, indent = "  "): string {
  return text
    .split("\n")
    .flatMap((line) => wrapped(line, widthOf(style) - indent.length))
    .map((line) => indent + line)
    .join("\n");
}

/**
 * Wraps lines. Each line has its own indentation and list number. Does not wrap commands and file contents, so that the user can copy them.
 */
export function listLines(text: string, style: HelpStyle): string {
  return text
    .split("\n")
    .flatMap((line) => {
      const [start = "", indent = "", number = ""] = /^( *)(\d+\. )?/.exec(line) ?? [];
      if (/^(?:runtimectl |- run: |[A-Z_]+: )/.test(line.slice(indent.length))) return [line];
      const [first = "", ...others] = wrapped(line.slice(start.length), widthOf(style) - start.length);
      return [start + first, ...others.map((other) => " ".repeat(indent.length + number.length) + other)];
    })
    .join("\n");
}

function widthOf({ widthColumns }: HelpStyle): number {
  return Math.min(mostWidth, Math.max(leastWidth, widthColumns));
}

/** Wraps text at spaces. Never splits a word, because the user could copy the word as a command. */
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
