import type { IncomingMessage } from "node:http";
import { ApiError } from "../../shared/api-error.js";

/** What makes a request ambiguous although Node took it, so that a proxy could read it otherwise; undefined when nothing does. */
export function problemOfHead(request: IncomingMessage): ApiError | undefined {
  const { headers } = request;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return new ApiError("NOT_IMPLEMENTED", "The only Transfer-Encoding that is taken is chunked.");
  if (headers.host === undefined) return request.httpVersion === "1.0" ? undefined : badHost("has no Host header");
  if (hostCount(request.rawHeaders) > 1) return badHost("has more than one Host header");
  const authority = /^https?:\/\/([^/?#]*)/i.exec(request.url ?? "")?.[1];
  if (authority !== undefined && authority.toLowerCase() !== headers.host.toLowerCase())
    return badHost("names one host in its target and another in its Host header");
  return undefined;
}

/** Node keeps the first of several Host headers and tells nobody. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function badHost(what: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The request ${what}; HTTP/1.1 asks for exactly one.`);
}
