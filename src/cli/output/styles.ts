const codes = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33" } as const;

/** One of the terminal's own styles; the text must mean the same without it. */
export type Style = keyof typeof codes;

/** The text in a style where the terminal shows styles. */
export function styled(style: Style | undefined, text: string, { hasColor }: { readonly hasColor: boolean }): string {
  return hasColor && style !== undefined && text !== "" ? `\x1b[${codes[style]}m${text}\x1b[0m` : text;
}

const stateStyles: Readonly<Record<string, Style>> = {
  on: "green",
  off: "dim",
  live: "green",
  ready: "green",
  loaded: "green",
  disabled: "dim",
  waiting: "yellow",
  failed: "red",
  refused: "yellow",
  ok: "green",
  warn: "yellow",
  fail: "red",
};

/** The style of a word for a state or an outcome; what follows the word, such as an error code, does not count. */
export function stateStyle(text: string): Style | undefined {
  const word = text.split(" ", 1)[0] ?? "";
  return Object.hasOwn(stateStyles, word) ? stateStyles[word] : undefined;
}

/** Headings of columns, and names of facts, whose values are states or outcomes. Other values are names that users choose. */
export const stateNames: ReadonlySet<string> = new Set(["STATE", "STATUS", "OUTCOME", "LIVE", "state", "health"]);
