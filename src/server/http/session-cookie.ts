import type { IncomingMessage } from "node:http";
import { hasSeveralSessionCookies, hostSessionCookieName, sessionCookieName } from "../access/credentials.js";
import { schemeOf } from "./forwarded-proto.js";

/** `Set-Cookie` that hands the key to the browser, out of reach of scripts; over HTTPS once more under the name that only this host can set. */
export function issueSessionCookies(request: IncomingMessage, key: string, maxAgeSeconds: number): string[] {
  return ownCookies(request, encodeURIComponent(key), maxAgeSeconds);
}

function ownCookies(request: IncomingMessage, value: string, maxAgeSeconds: number): string[] {
  const attributes = `Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict`;
  return isHttps(request)
    ? [sessionCookieName, hostSessionCookieName].map((name) => `${name}=${value}; ${attributes}; Secure`)
    : [`${sessionCookieName}=${value}; ${attributes}`];
}

/** Most bytes of header lines that clear planted cookies, for the host and for its domains: nginx takes 4 KB of headers by default. */
const clearingBytes = { host: 2100, domains: 1400 };
/** What a header line has around its value: its name, and the line break. */
const lineOverheadBytes = "Set-Cookie: \r\n".length;

/** `Set-Cookie` that takes it away again; further ones for cookies of the same name that pages may have planted, where several were sent. */
export function clearSessionCookies(request: IncomingMessage): string[] {
  const own = ownCookies(request, "", 0);
  return hasSeveralSessionCookies(request.headers) ? [...clearPlantedCookies(request), ...own] : own;
}

/**
 * A browser replaces a cookie only by one of the same name, path, domain and partition. So these name every path of the request that a
 * cookie can belong to, for the host itself and for the domains at and above it.
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

/** Where there are too many, random ones: each has its turn when the client tries again. */
function withinBytes(lines: readonly string[], most: number): string[] {
  if (lines.reduce((bytes, line) => bytes + sizeOf(line), 0) <= most) return [...lines];
  let bytes = 0;
  return lines.toSorted(() => Math.random() - 0.5).filter((line) => (bytes += sizeOf(line)) <= most);
}

/** `/`, `/api`, `/api/` and so on of `/api/keys`: all are paths of cookies, and different ones. */
function pathsAbove(url: string): string[] {
  const segments = (url.split("?", 1)[0] ?? "")
    .split("/")
    .slice(1)
    .filter((segment) => segment !== "");
  // A semicolon cannot be part of a cookie's path; what lies below it is not reached by one.
  const end = segments.findIndex((segment) => segment.includes(";"));
  const usable = end === -1 ? segments : segments.slice(0, end);
  const paths = usable.map((_, index) => `/${usable.slice(0, index + 1).join("/")}`);
  return ["/", ...paths.flatMap((path, index) => (index === paths.length - 1 ? [path] : [path, `${path}/`]))];
}

/** The host's name and those above it that are not the top level; none of an address. */
function domainsOf(host: string): string[] {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  if (!/^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(name)) return [];
  const labels = name.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

function isHttps(request: IncomingMessage): boolean {
  return schemeOf(request) === "https";
}
