/** Headers that the daemon sets itself. */
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

/** Headers that affect paths outside of a worker or plugin. */
const siteWideNames = new Set(["clear-site-data", "service-worker-allowed"]);

/** Headers that affect a whole origin. Plugins can send them, and so can a worker at a host of its own. */
const originWideNames = new Set([
  "strict-transport-security",
  "nel",
  "report-to",
  "reporting-endpoints",
  "alt-svc",
  "origin-agent-cluster",
  "accept-ch",
]);

/** Headers that make a proxy in front of the daemon send a file or call a URL, in addition to `x-accel-*`. */
const proxyControlNames = new Set(["x-sendfile", "x-lighttpd-send-file", "x-litespeed-location", "x-reproxy-url"]);

/** Cookie name prefixes for which browsers enforce additional rules. */
const cookieNamePrefix = /^__(?:host|secure)-/;

/** Whether a response header of a plugin is allowed for the client; `lower` is its lower-case name. */
export function mayRespondWith(lower: string, value: string): boolean {
  return isForApps(lower, value) && !siteWideNames.has(lower);
}

/** Whether a response header of a worker is allowed for the client. `ownsOrigin`: the client sent its request to a host of the worker. */
export function mayWorkerRespondWith(lower: string, value: string, { ownsOrigin }: { readonly ownsOrigin: boolean }): boolean {
  if (!isForApps(lower, value) || proxyControlNames.has(lower) || lower.startsWith("x-accel-")) return false;
  return ownsOrigin || (!siteWideNames.has(lower) && !originWideNames.has(lower));
}

function isForApps(lower: string, value: string): boolean {
  return !droppedNames.has(lower) && (lower !== "set-cookie" || !couldBeSessionCookie(value));
}

/**
 * Whether a browser could return the cookie as the session cookie. A cookie without a name is returned as its value, which can contain name
 * and value.
 */
function couldBeSessionCookie(setCookie: string): boolean {
  const pair = setCookie.split(";", 1)[0] ?? "";
  const name = pair.slice(0, Math.max(0, pair.indexOf("="))).trim();
  if (name === "") return true;
  // Removes characters that a lenient parser could ignore around the name.
  const bareName = name.toLowerCase().replace(/[^\w-]/g, "");
  return bareName.replace(cookieNamePrefix, "") === "runtime_api_key";
}
