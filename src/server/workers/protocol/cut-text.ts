/** In UTF-16 units. */
export const longestLogText = 32 * 1024;
const suffixRoom = 64;

/** The text of an entry, without what is too much of it. */
export function cutText(text: string): string {
  if (text.length <= longestLogText) return text;
  const kept = longestLogText - suffixRoom;
  return `${text.slice(0, kept)}… (${text.length - kept} more characters)`;
}
