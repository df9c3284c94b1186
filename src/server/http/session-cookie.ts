import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { hasSeveralSessionCookies, sessionCookieName } from "../access/credentials.js";
import { forwardedProto } from "./forwarded-proto.js";

/** `Set-Cookie` that hands the key to the browser, out of reach of scripts. */
export function issueSessionCookie(request: IncomingMessage, key: string, maxAgeSeconds: number): string {
  return `${sessionCookieName}=${encodeURIComponent(key)}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict${isHttps(request) ? "; Secure" : ""}`;
}

/** Most bytes of headers that clear planted cookies: proxies take 4 KB of headers by default. */
const maximumClearingBytes = 3000;

/** `Set-Cookie` that takes it away again; further ones for cookies of the same name that pages may have planted, where several were sent. */
export function clearSessionCookies(request: IncomingMessage): string[] {
  const own = `${sessionCookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict${isHttps(request) ? "; Secure" : ""}`;
  return hasSeveralSessionCookies(request.headers) ? [...clearPlantedCookies(request), own] : [own];
}

/**
 * A browser replaces a cookie only by one of the same name, path and domain. So these name every path of the request that a cookie can
 * belong to, the host itself and the domains above it, and the cookie without a name whose value reads as name and value.
 */
function clearPlantedCookies({ url = "/", headers: { host = "" } }: IncomingMessage): string[] {
  const domains = ["", ...domainsOf(host).map((name) => `; Domain=${name}`)];
  const pairs = [`${sessionCookieName}=`, `=${sessionCookieName}=`];
  const lines = domains.flatMap((domain) =>
    ["/", ...pathsAbove(url)].flatMap((path) => pairs.map((pair) => `${pair}; Max-Age=0; Path=${path}${domain}`)),
  );
  let bytes = 0;
  return lines.filter((line) => (bytes += line.length) <= maximumClearingBytes);
}

/** `/api` and `/api/` of `/api/keys`, and so on: both are paths of cookies, and different ones. */
function pathsAbove(url: string): string[] {
  const segments = (url.split("?", 1)[0] ?? "")
    .split("/")
    .slice(1)
    .filter((segment) => /^[\w.~@%-]+$/.test(segment));
  return segments.flatMap((_, index) => {
    const path = `/${segments.slice(0, index + 1).join("/")}`;
    return [path, `${path}/`];
  });
}

/** The host's name and those above it that are not the top level; none of an address. */
function domainsOf(host: string): string[] {
  const name = host.replace(/:\d+$/, "").toLowerCase();
  if (!/^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/.test(name)) return [];
  const labels = name.split(".");
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
}

/** What a proxy says of its client's connection counts first, then the connection itself. */
function isHttps(request: IncomingMessage): boolean {
  const proto = forwardedProto(request.headers);
  return proto === undefined ? request.socket instanceof TLSSocket : proto === "https";
}
