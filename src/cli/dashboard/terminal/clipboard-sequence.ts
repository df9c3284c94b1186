/**
 * Returns the escape sequence OSC 52, which copies text to the terminal's clipboard, even over SSH. Base64 prevents the text from injecting
 * other sequences.
 */
export function clipboardSequence(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}
