/** Returns the note that is printed when filters leave no entries. The note names the filters. Undefined if the command used no filter. */
export function noMatchingEntries(filters: Readonly<Record<`--${string}`, unknown>>): string | undefined {
  const used = Object.keys(filters).filter((flag) => filters[flag as `--${string}`] !== undefined);
  const last = used.at(-1);
  if (last === undefined) return undefined;
  return `no matching entries; try without ${used.length === 1 ? last : `${used.slice(0, -1).join(", ")} and ${last}`}`;
}
