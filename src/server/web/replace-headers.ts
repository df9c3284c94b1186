/**
 * Replaces all headers of `target` by the headers of `source`, in place, because the headers object of a native request or response cannot
 * be replaced.
 */
export function replaceHeaders(target: Headers, source: Headers): void {
  // The names are copied first, because a deletion would disturb the iterator.
  const names = Array.from(target.keys());
  for (const name of names) target.delete(name);
  for (const [name, value] of source) target.append(name, value);
}
