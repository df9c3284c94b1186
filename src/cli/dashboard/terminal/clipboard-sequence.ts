/** What has a terminal put text into its clipboard (OSC 52), over SSH too. As base64 nothing in the text can end it early. */
export function clipboardSequence(text: string): string {
  return `\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`;
}
