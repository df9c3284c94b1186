const codes = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33" } as const;

/** A terminal style. Not every terminal shows styles, so the text alone must have the same meaning. */
export type Style = keyof typeof codes;

/** Returns the text with a style. If the terminal has no color, returns the text unchanged. */
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
  idle: "dim",
  degraded: "yellow",
  backoff: "red",
  failing: "red",
  warn: "yellow",
  fail: "red",
};

/** Returns the style for a state or outcome. Only the first word of the text decides, because an error code can follow. */
export function stateStyle(text: string): Style | undefined {
  const word = text.split(" ", 1)[0] ?? "";
  return Object.hasOwn(stateStyles, word) ? stateStyles[word] : undefined;
}

/**
 * Names of the columns and properties that contain states. All other columns have no style, because their values can be names that users
 * choose.
 */
export const stateNames: ReadonlySet<string> = new Set(["STATE", "STATUS", "OUTCOME", "LIVE", "state", "health"]);
