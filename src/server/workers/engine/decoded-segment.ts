/** A segment of a URL path, decoded; undefined when it is malformed or decodes to more than one segment or to control characters. */
export function decodedSegment(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment);
    // oxlint-disable-next-line no-control-regex -- control characters are what is refused
    return /[/\\\u0000-\u001f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
