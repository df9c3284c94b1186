/**
 * Replaces the headers of `target` by the headers of `source`. Changes `target` itself, because a native request or response always keeps
 * its headers object.
 */
export function replaceHeaders(target: Headers, source: Headers): void {
  // Copies the names first, because a deletion during the iteration would skip names.
  const names = Array.from(target.keys());
  for (const name of names) target.delete(name);
  for (const [name, value] of source) target.append(name, value);
}
