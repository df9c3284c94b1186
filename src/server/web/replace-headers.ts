/** Replaces all headers of `target` by those of `source`, in place: the object of a native request or response cannot be exchanged. */
export function replaceHeaders(target: Headers, source: Headers): void {
  // The iterator does not expect that headers are deleted meanwhile.
  const names = Array.from(target.keys());
  for (const name of names) target.delete(name);
  for (const [name, value] of source) target.append(name, value);
}
