/** Returns a word quoted for a POSIX shell. Words without special characters are returned unchanged. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
