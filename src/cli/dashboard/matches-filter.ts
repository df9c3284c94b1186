/** Whether a text is what a filter asks for: all its words, each in any case; `!word` must not occur. */
export function matchesFilter(text: string, filter: string): boolean {
  const lower = text.toLowerCase();
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && word !== "!");
  return words.every((word) => (word.startsWith("!") ? !lower.includes(word.slice(1)) : lower.includes(word)));
}
