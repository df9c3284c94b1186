/**
 * Matches characters that could control a terminal or change the reading direction. Other users can put these characters into names and
 * messages.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const unsafeInLines = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text on one line. Characters that could control a terminal are escaped, such as `\x1b`. */
export function sanitizeForTerminal(text: string): string {
  return text.replace(unsafe, escaped);
}

/** Escapes the same characters as `sanitizeForTerminal`, except line feeds. */
export function printableLines(text: string): string {
  return text.replace(unsafeInLines, escaped);
}

/**
 * Returns a value as JSON text. Writes characters that could control a terminal as `\u` escapes, which a JSON parser decodes to the
 * original characters.
 */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(unsafeInLines, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? `\\x${point.toString(16).padStart(2, "0")}` : `\\u{${point.toString(16)}}`;
}
