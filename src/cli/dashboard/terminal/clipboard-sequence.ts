/**
 * Returns the escape sequence OSC 52, with which the terminal copies a text to the clipboard, also over SSH. The text is in Base64, so that
 * it cannot contain other escape sequences.
 */
export function clipboardSequence(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}
