import stringWidth from "string-width";
import { fitted, widthOf } from "./fitted.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

const plain = /^[\x20-\x7e]*$/;
const segmenter = new Intl.Segmenter();

/** Splits text into lines of at most `columns` columns, between any two graphemes. Escapes control characters. */
export function wrapped(text: string, columns: number): string[] {
  const safe = sanitizeForTerminal(text);
  const width = Math.max(2, columns);
  if (safe.length <= width && plain.test(safe)) return [safe];
  const lines: string[] = [];
  let [line, used] = ["", 0];
  for (const segment of plain.test(safe) ? chunks(safe, width) : Array.from(segmenter.segment(safe), (part) => part.segment)) {
    const segmentWidth = stringWidth(segment);
    if (used + segmentWidth > width) {
      lines.push(line);
      [line, used] = ["", 0];
    }
    line += segment;
    used += segmentWidth;
  }
  return [...lines, line];
}

/**
 * Splits text into at most `mostLines` lines: at line feeds, between words, and within a word that is longer than a line. If lines are
 * omitted, the last line ends with an ellipsis.
 */
export function wrappedWords(text: string, columns: number, mostLines: number): string[] {
  const width = Math.max(2, columns);
  const lines = text.split("\n").flatMap((line) => wordLines(line, width));
  if (lines.length <= mostLines) return lines;
  const last = lines[mostLines - 1] ?? "";
  return [...lines.slice(0, mostLines - 1), widthOf(last) < width ? `${last}…` : fitted(`${last} `, width)];
}

function wordLines(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of sanitizeForTerminal(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    const parts = wrapped(word, width);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? "";
  }
  return [...lines, line];
}

function chunks(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}
