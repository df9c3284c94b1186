/** Matches URL paths without encoded, hidden or empty segments. Nearly all paths match. */
const plainPath = /^(?:\/[\w~-][\w.~-]*)*\/?$/;

/** Returns the decoded path relative to a served folder. Returns undefined if the URL path cannot belong to a file of the folder. */
export function relativeFilePath(urlPath: string): string | undefined {
  if (plainPath.test(urlPath)) return urlPath.slice(1);
  const segments = urlPath.split("/").slice(1);
  const names: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const name = decodedSegment(segment);
    const isLast = index === segments.length - 1;
    if (name === undefined || (name === "" && !isLast) || name.startsWith(".")) return undefined;
    names.push(name);
  }
  return names.join("/");
}

/**
 * Decodes one segment of a URL path. Returns undefined if the encoding is malformed, or if the segment contains an encoded slash, backslash
 * or control character.
 */
export function decodedSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    // oxlint-disable-next-line no-control-regex -- control characters are rejected
    return /[/\\\u0000-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
