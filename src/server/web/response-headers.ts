/** The daemon alone states framing, connection and request id. */
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
]);

/** Headers that reach beyond the paths of a worker or of a plugin. */
const siteWideNames = new Set(["clear-site-data", "service-worker-allowed"]);

/** Headers that bind a whole origin. Plugins may send them, and a worker at a host of its own. */
const originWideNames = new Set([
  "strict-transport-security",
  "nel",
  "report-to",
  "reporting-endpoints",
  "alt-svc",
  "origin-agent-cluster",
  "accept-ch",
]);

/** Headers with which a response has the proxy in front of the daemon send a file or call a URL. `x-accel-*` is among them. */
const proxyControlNames = new Set(["x-sendfile", "x-lighttpd-send-file", "x-litespeed-location", "x-reproxy-url"]);

/** Prefixes under which browsers take a name more strictly. */
const cookieNamePrefix = /^__(?:host|secure)-/;

/** Whether a header of a plugin's response may go to the client; `lower` is its name in lower case. */
export function mayRespondWith(lower: string, value: string): boolean {
  return isForApps(lower, value) && !siteWideNames.has(lower);
}

/** Whether a header of a worker's response may go to the client. `ownsOrigin`: the request came to a host of the worker. */
export function mayWorkerRespondWith(lower: string, value: string, { ownsOrigin }: { readonly ownsOrigin: boolean }): boolean {
  if (!isForApps(lower, value) || proxyControlNames.has(lower) || lower.startsWith("x-accel-")) return false;
  return ownsOrigin || (!siteWideNames.has(lower) && !originWideNames.has(lower));
}

function isForApps(lower: string, value: string): boolean {
  return !droppedNames.has(lower) && (lower !== "set-cookie" || !couldBeSessionCookie(value));
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
