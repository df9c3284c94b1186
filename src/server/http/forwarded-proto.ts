import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

/** The scheme by which a proxy's client came, in lower case; undefined without `X-Forwarded-Proto`. Of several proxies the first one counts. */
export function forwardedProto({ "x-forwarded-proto": header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined) return undefined;
  const [first = ""] = (Array.isArray(header) ? header.join(",") : header).split(",");
  return first.trim().toLowerCase();
}

/** The scheme by which the client came: what a proxy says of it counts first, then the connection itself. */
export function schemeOf(request: IncomingMessage): "http" | "https" {
  const proto = forwardedProto(request.headers);
  return (proto === undefined ? request.socket instanceof TLSSocket : proto === "https") ? "https" : "http";
}
