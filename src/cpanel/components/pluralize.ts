/** Returns a number with its noun, such as `1 key` or `2,000 keys`. */
export function pluralize(count: number, noun: string): string {
  return `${count.toLocaleString("en-GB")} ${noun}${count === 1 ? "" : "s"}`;
}
