import stringWidth from "string-width";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

const plain = /^[\x20-\x7e]*$/;
const ellipsis = "…";
const segmenter = new Intl.Segmenter();

/** Returns the number of terminal columns of a text, with its control characters escaped. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  return stringWidth(sanitizeForTerminal(text));
}

/**
 * Returns text with a width of exactly `columns` columns: longer text is truncated with an ellipsis, shorter text is padded with spaces.
 * Escapes control characters.
 */
export function fitted(text: string, columns: number): string {
  const safe = sanitizeForTerminal(text);
  const width = plain.test(safe) ? safe.length : stringWidth(safe);
  if (width <= columns) return safe + " ".repeat(columns - width);
  const cut = cutTo(safe, columns - 1);
  return columns < 1 ? "" : cut + ellipsis + " ".repeat(Math.max(0, columns - 1 - stringWidth(cut)));
}

/** Returns the longest start of a text that fits into the width. Never splits a grapheme. */
function cutTo(text: string, columns: number): string {
  if (plain.test(text)) return text.slice(0, Math.max(0, columns));
  let [cut, width] = ["", 0];
  for (const { segment } of segmenter.segment(text)) {
    width += stringWidth(segment);
    if (width > columns) break;
    cut += segment;
  }
  return cut;
}
