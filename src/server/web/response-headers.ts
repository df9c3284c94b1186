/** Response headers that only the daemon sets. The daemon removes these headers from the responses of workers and plugins. */
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

/** Response headers that also affect paths of other workers and plugins. */
const siteWideNames = new Set(["clear-site-data", "service-worker-allowed"]);

/** Response headers that affect all paths of an origin. Only plugins and workers with their own host name are allowed to send these. */
const originWideNames = new Set([
  "strict-transport-security",
  "nel",
  "report-to",
  "reporting-endpoints",
  "alt-svc",
  "origin-agent-cluster",
  "accept-ch",
]);

/** Response headers that make a proxy in front of the daemon send a file or call a URL. Headers `x-accel-*` have the same effect. */
const proxyControlNames = new Set(["x-sendfile", "x-lighttpd-send-file", "x-litespeed-location", "x-reproxy-url"]);

/** Prefixes of cookie names for which browsers enforce additional rules. */
const cookieNamePrefix = /^__(?:host|secure)-/;

/** Returns whether a plugin is allowed to send a response header. `lower` is the header name in lower case. */
export function mayRespondWith(lower: string, value: string): boolean {
  return isForApps(lower, value) && !siteWideNames.has(lower);
}

/**
 * Returns whether a worker is allowed to send a response header. `lower` is the header name in lower case. `ownsOrigin` is true if the
 * client sent its request to a host name of the worker.
 */
export function mayWorkerRespondWith(lower: string, value: string, { ownsOrigin }: { readonly ownsOrigin: boolean }): boolean {
  if (!isForApps(lower, value) || proxyControlNames.has(lower) || lower.startsWith("x-accel-")) return false;
  return ownsOrigin || (!siteWideNames.has(lower) && !originWideNames.has(lower));
}

function isForApps(lower: string, value: string): boolean {
  return !droppedNames.has(lower) && (lower !== "set-cookie" || !couldBeSessionCookie(value));
}

/**
 * Returns whether a browser could send the cookie back as the session cookie. If a cookie has no name, a browser sends only the value,
 * which can contain `name=value`.
 */
function couldBeSessionCookie(setCookie: string): boolean {
  const pair = setCookie.split(";", 1)[0] ?? "";
  const name = pair.slice(0, Math.max(0, pair.indexOf("="))).trim();
  if (name === "") return true;
  // Removes the characters around the cookie name that some parsers ignore.
  const bareName = name.toLowerCase().replace(/[^\w-]/g, "");
  return bareName.replace(cookieNamePrefix, "") === "runtime_api_key";
}
