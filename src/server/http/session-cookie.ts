import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { sessionCookieName } from "../access/credentials.js";

/** `Set-Cookie` that hands the key to the browser, out of reach of scripts. */
export function issueSessionCookie(request: IncomingMessage, key: string, maxAgeSeconds: number): string {
  return `${sessionCookieName}=${encodeURIComponent(key)}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict${isHttps(request) ? "; Secure" : ""}`;
}

/** `Set-Cookie` that takes it away again. */
export function clearSessionCookie(request: IncomingMessage): string {
  return `${sessionCookieName}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict${isHttps(request) ? "; Secure" : ""}`;
}

/** What a proxy says of its client's connection counts first, then the connection itself. */
function isHttps(request: IncomingMessage): boolean {
  const forwarded = request.headers["x-forwarded-proto"];
  if (forwarded === undefined) return request.socket instanceof TLSSocket;
  const first = (Array.isArray(forwarded) ? forwarded.join(",") : forwarded).split(",")[0] ?? "";
  return first.trim().toLowerCase() === "https";
}
