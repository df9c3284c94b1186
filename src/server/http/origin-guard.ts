import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { forwardedProto } from "./forwarded-proto.js";
import { isHost } from "../../shared/host.js";

/** Refuses a changing call whose Origin is missing or names another host than the one called: a page of somewhere else sent it. */
export function assertOwnOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  if (origin === undefined || origin === "") {
    const example = isHost(host) ? `http://${host}` : "http://HOST";
    throw new ApiError(
      "CSRF_ORIGIN_REQUIRED",
      `A changing call needs an Origin header that names this host; add for example: -H 'Origin: ${example}'.`,
    );
  }
  if (!isOriginOf(origin, host))
    throw new ApiError(
      "CSRF_ORIGIN_MISMATCH",
      "The Origin header names another host than the one that was called; send the scheme and host of this daemon's own address.",
    );
}

/** Rejects a call whose Origin has another scheme than the one that a proxy's client came by; nothing is compared where no proxy tells it. */
export function assertOwnScheme(headers: IncomingHttpHeaders): void {
  const { origin = "" } = headers;
  const scheme = forwardedProto(headers);
  if (scheme !== undefined && !origin.toLowerCase().startsWith(`${scheme}://`))
    throw new ApiError(
      "CSRF_ORIGIN_MISMATCH",
      `The Origin header names another scheme than X-Forwarded-Proto (${JSON.stringify(scheme.slice(0, 20))}). Send the scheme of this daemon's own address, or have the proxy set X-Forwarded-Proto to that of its client.`,
    );
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  if (!isHost(host) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  // An origin is scheme, host and port, written exactly so: no user info, path, query or fragment.
  if (url.origin.toLowerCase() !== origin.toLowerCase() && `${url.protocol}//${host}`.toLowerCase() !== origin.toLowerCase()) return false;
  return url.host === new URL(`${url.protocol}//${host}`).host;
}
