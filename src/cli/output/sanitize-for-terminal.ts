/**
 * What could steer a terminal or turn the reading direction: control characters, and the invisible characters of
 * Unicode's format class, line and paragraph separators. Names and messages come from servers and files that others write.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const unsafeInLines = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text on one line with everything a terminal would obey written out, such as `\x1b`. */
export function sanitizeForTerminal(text: string): string {
  return text.replace(unsafe, escaped);
}

/** Like `printable`, but line breaks stay. */
export function printableLines(text: string): string {
  return text.replace(unsafeInLines, escaped);
}

/** JSON in which a terminal finds nothing to obey; still the same document. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(unsafeInLines, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point < 0x100 ? `\\x${point.toString(16).padStart(2, "0")}` : `\\u{${point.toString(16)}}`;
}
