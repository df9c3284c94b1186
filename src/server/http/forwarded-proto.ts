import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";

/** Returns the scheme of the client's connection to the first proxy, in lower case. Returns undefined without `X-Forwarded-Proto`. */
export function forwardedProto({ "x-forwarded-proto": header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined) return undefined;
  const [first = ""] = (Array.isArray(header) ? header.join(",") : header).split(",");
  return first.trim().toLowerCase();
}

/**
 * Returns the scheme of the client's connection, from the header `X-Forwarded-Proto` if a proxy has added it. Otherwise returns the scheme
 * of the connection to the daemon.
 */
export function schemeOf(request: IncomingMessage): "http" | "https" {
  const proto = forwardedProto(request.headers);
  return (proto === undefined ? request.socket instanceof TLSSocket : proto === "https") ? "https" : "http";
}
