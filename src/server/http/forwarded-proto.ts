import type { IncomingHttpHeaders } from "node:http";

/** The scheme by which a proxy's client came, in lower case; undefined without `X-Forwarded-Proto`. Of several proxies the first one counts. */
export function forwardedProto({ "x-forwarded-proto": header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined) return undefined;
  const [first = ""] = (Array.isArray(header) ? header.join(",") : header).split(",");
  return first.trim().toLowerCase();
}
