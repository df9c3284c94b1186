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

/** They bind the whole origin, which workers share, or steer the proxy in front of the daemon. Plugins can send those that bind the origin. */
const originWideNames = new Set([
  "strict-transport-security",
  "nel",
  "report-to",
  "reporting-endpoints",
  "alt-svc",
  "origin-agent-cluster",
  "accept-ch",
  "x-sendfile",
  "x-lighttpd-send-file",
  "x-litespeed-location",
  "x-reproxy-url",
]);

/** Prefixes under which browsers take a name more strictly. */
const cookieNamePrefix = /^__(?:host|secure)-/;

/** Whether a header of an answer may go to the client; `lower` is its name in lower case. */
export function mayRespondWith(lower: string, value: string): boolean {
  if (droppedNames.has(lower)) return false;
  return lower !== "set-cookie" || !couldBeSessionCookie(value);
}

/** The same for an answer of a worker, which may speak for its own paths only. */
export function mayWorkerRespondWith(lower: string, value: string): boolean {
  return mayRespondWith(lower, value) && !originWideNames.has(lower) && !lower.startsWith("x-accel-");
}

/** Whether a browser could send it back as the session cookie. One without a name is sent as its value alone, which may be both. */
function couldBeSessionCookie(setCookie: string): boolean {
  const pair = setCookie.split(";", 1)[0] ?? "";
  const name = pair.slice(0, Math.max(0, pair.indexOf("="))).trim();
  if (name === "") return true;
  // Whatever a lenient parser takes for padding of the name.
  const bareName = name.toLowerCase().replace(/[^\w-]/g, "");
  return bareName.replace(cookieNamePrefix, "") === "runtime_api_key";
}
