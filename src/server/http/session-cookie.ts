import type { IncomingMessage } from "node:http";
import { hasSeveralSessionCookies, hostSessionCookieName, sessionCookieName } from "../access/credentials.js";
import { schemeOf } from "./forwarded-proto.js";

/**
 * Returns `Set-Cookie` headers that contain the key of the session. Scripts cannot read these cookies. Over HTTPS, a second cookie has the
 * prefix `__Host-`, so that no other host can set this cookie.
 */
export function issueSessionCookies(request: IncomingMessage, key: string, maxAgeSeconds: number): string[] {
  return ownCookies(request, encodeURIComponent(key), maxAgeSeconds);
}

function ownCookies(request: IncomingMessage, value: string, maxAgeSeconds: number): string[] {
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict`;
  return isHttps(request)
    ? [sessionCookieName, hostSessionCookieName].map((name) => `${name}=${value}; ${attributes}; Secure`)
    : [`${sessionCookieName}=${value}; ${attributes}`];
}

/**
 * Maximum total size in bytes of the headers that delete cookies without a domain (`host`) and with a domain (`domains`). The sum stays
 * below 4 KB, the default limit of nginx for response headers.
 */
const clearingBytes = { host: 2100, domains: 1400 };
/** Number of bytes of a `Set-Cookie` header line in addition to its value. */
const lineOverheadBytes = "Set-Cookie: \r\n".length;

/**
 * Returns `Set-Cookie` headers that delete the session cookie. If the request has several session cookies, also deletes the cookies that a
 * page of a worker can have set.
 */
export function clearSessionCookies(request: IncomingMessage): string[] {
  const own = ownCookies(request, "", 0);
  return hasSeveralSessionCookies(request.headers) ? [...clearPlantedCookies(request), ...own] : own;
}

/**
 * Returns headers that delete the session cookie on each parent path of the request, for the host and its parent domains. A browser deletes
 * a cookie only if name, path, domain and partition match.
 */
function clearPlantedCookies({ url = "/", headers: { host = "" } }: IncomingMessage): string[] {
  const paths = pathsAbove(url);
  return [
    ...withinBytes(clearingLines(paths, ""), clearingBytes.host),
    ...withinBytes(
      domainsOf(host).flatMap((domain) => clearingLines(paths, `;Domain=${domain}`)),
      clearingBytes.domains,
    ),
  ];
}

function clearingLines(paths: readonly string[], domain: string): string[] {
  return paths.flatMap((path) =>
    ["", ";Secure;Partitioned"].flatMap((partition) =>
      [sessionCookieName, `=${sessionCookieName}`].map((name) => `${name}=;Max-Age=0;Path=${path}${domain}${partition}`),
    ),
  );
}

function sizeOf(line: string): number {
  return line.length + lineOverheadBytes;
}

/**
 * Returns all lines if they fit within the size limit. Otherwise returns a random selection, so that further requests delete the remaining
 * cookies.
 */
function withinBytes(lines: readonly string[], most: number): string[] {
  if (lines.reduce((bytes, line) => bytes + sizeOf(line), 0) <= most) return [...lines];
  let bytes = 0;
  return lines.toSorted(() => Math.random() - 0.5).filter((line) => (bytes += sizeOf(line)) <= most);
}

/** Returns each possible cookie path for a request. For `/api/keys` these are `/`, `/api`, `/api/` and `/api/keys`. */
function pathsAbove(url: string): string[] {
  const segments = (url.split("?", 1)[0] ?? "")
    .split("/")
    .slice(1)
    .filter((segment) => segment !== "");
  // Ignores the first segment with a semicolon and all segments after it, because a cookie path cannot contain a semicolon.
  const end = segments.findIndex((segment) => segment.includes(";"));
  const usable = end === -1 ? segments : segments.slice(0, end);
  const paths = usable.map((_, index) => `/${usable.slice(0, index + 1).join("/")}`);
  return ["/", ...paths.flatMap((path, index) => (index === paths.length - 1 ? [path] : [path, `${path}/`]))];
}

/** Returns the host name and its parent domains, except the top-level domain. Returns an empty list for an IP address. */
function domainsOf(host: string): string[] {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  if (!/^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(name)) return [];
  const labels = name.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

function isHttps(request: IncomingMessage): boolean {
  return schemeOf(request) === "https";
}
