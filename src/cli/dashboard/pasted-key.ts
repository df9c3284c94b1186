const prefix = "pasted:";

/** The name of the key that pasted text is: none that a keymap knows. */
export function pastedKey(text: string): string {
  return prefix + text;
}

/** The text of such a key on one line, without what a line cannot hold; undefined for other keys. */
export function pastedText(key: string): string | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const line = key.slice(prefix.length).trim().replace(/\s+/g, " ");
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return line.replace(/[\u0000-\u001f\u007f]/g, "");
}
