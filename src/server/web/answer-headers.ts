/** Framing and connection are ours to say; the last two would let an app reach beyond its own paths. */
const droppedNames = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "content-length",
  "x-request-id",
  "clear-site-data",
  "service-worker-allowed",
]);
const sessionCookiePattern = /^\s*runtime_api_key\s*(?:=|;|$)/i;

/** Whether a header of an answer may go to the client; `lower` is its name in lower case. */
export function mayAnswerWith(lower: string, value: string): boolean {
  if (droppedNames.has(lower)) return false;
  // A cookie name may be percent-encoded or padded: whatever a browser could read as ours is dropped.
  return lower !== "set-cookie" || !sessionCookiePattern.test(value);
}
