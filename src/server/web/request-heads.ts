import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isHost } from "../../shared/host.js";
import { generatedKey } from "../../shared/generated-key.js";
import { lineFeed } from "./lazy-request.js";

/** Treatment of a client's header when the daemon writes the request to a worker. */
type Rule = "keep" | "drop" | "cookie" | "authorization" | "forwardedFor" | "forwardedProto" | "forwardedHost" | "host" | "traceparent";

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  // Credentials of an operator.
  ["x-api-key", "drop"],
  ["x-runtime-internal", "drop"],
  ["cookie", "cookie"],
  ["authorization", "authorization"],
  // Hop-by-hop headers of the client's connection.
  ["connection", "drop"],
  ["keep-alive", "drop"],
  ["proxy-connection", "drop"],
  ["proxy-authorization", "drop"],
  ["transfer-encoding", "drop"],
  ["te", "drop"],
  ["trailer", "drop"],
  ["upgrade", "drop"],
  ["expect", "drop"],
  ["http2-settings", "drop"],
  // Headers that the daemon sets itself.
  ["x-base", "drop"],
  ["x-cron", "drop"],
  ["x-request-id", "drop"],
  ["x-forwarded-for", "forwardedFor"],
  ["x-forwarded-proto", "forwardedProto"],
  ["x-forwarded-host", "forwardedHost"],
  ["host", "host"],
  ["traceparent", "traceparent"],
]);

const sessionCookie = "runtime_api_key";
const sessionCookies: ReadonlySet<string> = new Set([sessionCookie, `__host-${sessionCookie}`]);
const maximumKnownNames = 512;

/**
 * Lines of a WebSocket handshake. Workers recognize an upgrade request by these lines. The daemon does not forward the client's own
 * hop-by-hop headers.
 */
export const upgradeLines = "\nconnection\nUpgrade\nupgrade\nwebsocket";

/**
 * Writes the head of a request to a worker or plugin. The head contains the path below the base, but no credentials of the daemon and no
 * hop-by-hop headers.
 */
export class RequestHeads {
  readonly #isOurKey: (token: string) => boolean;
  /** Rule and lower-case name of each header. The map key is the name as the client wrote it. */
  readonly #knownNames = new Map<string, { rule: Rule; lower: string }>();
  #lastHost = { text: "", isSound: true };

  constructor(options: { isOurKey: (token: string) => boolean }) {
    this.#isOurKey = options.isOurKey;
  }

  /**
   * Returns the lines of the request head. Returns undefined if the Host header cannot be part of a URL. `path` is relative to `base`,
   * begins with a slash and includes the query.
   */
  write(request: IncomingMessage, target: { base: string | undefined; path: string; requestId: string }): string | undefined {
    const raw = request.rawHeaders;
    let lines = "";
    let host = "";
    let forwardedFor = "";
    let proto = "";
    let forwardedHost = "";
    let traceparent = "";
    for (let index = 0; index < raw.length; index += 2) {
      const value = raw[index + 1] as string;
      const { rule, lower } = this.#nameOf(raw[index] as string);
      // Omits a header that contains an API key. For the Cookie header, the rule `cookie` removes only the affected cookies.
      if (rule !== "cookie" && generatedKey.test(value)) continue;
      switch (rule) {
        case "keep":
          lines += `${lineFeed}${lower}${lineFeed}${value}`;
          break;
        case "host":
          host = value;
          lines += `${lineFeed}host${lineFeed}${value}`;
          break;
        case "cookie":
          lines += this.#cookieLine(value);
          break;
        case "authorization":
          if (!this.#isOurs(value)) lines += `${lineFeed}authorization${lineFeed}${value}`;
          break;
        case "forwardedFor":
          forwardedFor = `${value}, `;
          break;
        case "forwardedProto":
          proto = value.split(",")[0]?.trim().toLowerCase() ?? "";
          break;
        case "forwardedHost":
          forwardedHost = value;
          break;
        case "traceparent":
          if (validTraceparent.test(value)) traceparent = value;
          break;
        case "drop":
          break;
      }
    }
    if (!this.#isSoundHost(host)) return undefined;
    const scheme = proto === "https" || (proto !== "http" && "encrypted" in request.socket) ? "https" : "http";
    const ownLines =
      `${target.base === undefined ? "" : `${lineFeed}x-base${lineFeed}${target.base}`}${lineFeed}x-request-id${lineFeed}${target.requestId}` +
      `${lineFeed}traceparent${lineFeed}${traceparent || newTraceparent(target.requestId)}${lineFeed}x-forwarded-for${lineFeed}${forwardedFor}${request.socket.remoteAddress ?? "unknown"}` +
      `${lineFeed}x-forwarded-proto${lineFeed}${scheme}${lineFeed}x-forwarded-host${lineFeed}${forwardedHost || host}`;
    return `${request.method}${lineFeed}${scheme}://${host || "localhost"}${lineFeed}${target.path}${lines}${ownLines}`;
  }

  #nameOf(name: string): { rule: Rule; lower: string } {
    let known = this.#knownNames.get(name);
    if (known) return known;
    const lower = name.toLowerCase();
    known = { rule: rules.get(lower) ?? "keep", lower };
    // Limits the size of the map, because clients choose the names of headers.
    if (this.#knownNames.size < maximumKnownNames) this.#knownNames.set(name, known);
    return known;
  }

  #cookieLine(value: string): string {
    if (!value.toLowerCase().includes(sessionCookie) && !generatedKey.test(value)) return `${lineFeed}cookie${lineFeed}${value}`;
    const kept = value.split(";").filter((pair) => isKept(pair));
    const text = kept.join(";").trim();
    return text === "" ? "" : `${lineFeed}cookie${lineFeed}${text}`;
  }

  #isOurs(authorization: string): boolean {
    const token = /^bearer\s+(.*)$/i.exec(authorization)?.[1];
    return token !== undefined && this.#isOurKey(token.trim());
  }

  #isSoundHost(host: string): boolean {
    if (host !== this.#lastHost.text) {
      this.#lastHost = { text: host, isSound: host === "" || isHost(host) };
    }
    return this.#lastHost.isSound;
  }
}

/** Matches a valid `traceparent` header (W3C Trace Context): version, trace id, parent id and flags. Ids of zeros are invalid. */
const validTraceparent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns a new `traceparent` header with the flag `sampled`. If the request id is a UUID, the trace id is the request id without hyphens.
 */
function newTraceparent(requestId: string): string {
  const hex = requestId.replaceAll("-", "");
  const traceparent = `00-${hex}-${hex.slice(-16)}-01`;
  return validTraceparent.test(traceparent) ? traceparent : newTraceparent(randomUUID());
}

/** Returns whether the worker receives a cookie. Returns false for session cookies and for cookies that contain an API key. */
function isKept(pair: string): boolean {
  return !sessionCookies.has((pair.split("=")[0] as string).trim().toLowerCase()) && !generatedKey.test(pair);
}
