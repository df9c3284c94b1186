import type { LogLine } from "./log-line.js";

export const mostLines = 5000;
const mostCharacters = 2_000_000;

/** The newest lines, as far as both limits allow. */
export function newestLines(lines: readonly LogLine[]): readonly LogLine[] {
  let first = lines.length;
  let characters = 0;
  while (first > 0 && lines.length - first < mostLines) {
    characters += lines[first - 1]?.text.length ?? 0;
    if (characters > mostCharacters) break;
    first -= 1;
  }
  return first === 0 ? lines : lines.slice(first);
}
