import stringWidth from "string-width";
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

function chunks(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}
