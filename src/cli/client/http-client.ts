import { isIP } from "node:net";
import { Readable } from "node:stream";
import { Agent, ProxyAgent, request, type Dispatcher } from "undici";
import type { Settings } from "../config/settings.js";
import type { TransportResponse } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

/** Disables undici's own time limits. Each caller enforces its time limit with a signal that aborts the request. */
const unlimited = { headersTimeout: 0, bodyTimeout: 0 };

/** A complete request to one origin. If a key is sent, `headers` contains it. */
export interface OutgoingRequest {
  readonly method: string;
  /** Path and query of the requested URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The settings for TLS, proxy and time limit of connections. */
export type ConnectSettings = Pick<Settings, "certificateAuthorities" | "insecure" | "proxy" | "timeout">;

/** HTTP client for one origin, with keep-alive connections and an optional proxy. Does not follow redirects. */
export class HttpClient {
  readonly #origin: string;
  readonly #dispatcher: Dispatcher;

  constructor(origin: string, { certificateAuthorities: ca, insecure, proxy, timeout }: ConnectSettings) {
    this.#origin = origin;
    const host = new URL(origin).hostname;
    const tls = { rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) };
    this.#dispatcher =
      proxy === undefined
        ? new Agent({ ...unlimited, allowH2: false, connect: { ...tls, timeout: timeout.value } })
        : new ProxyAgent({
            ...unlimited,
            allowH2: false,
            uri: proxy.value,
            connectTimeout: timeout.value,
            requestTls: { ...tls, ...(isIP(host.replace(/^\[|\]$/g, "")) === 0 ? { servername: host } : {}) },
          });
  }

  /** Sends a request and resolves when the response headers arrive. If the signal aborts, rejects with the signal's reason. */
  async send(
    { method, path, headers }: OutgoingRequest,
    body: string | AsyncIterable<Uint8Array> | undefined,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    return await request(this.#origin + path, {
      method,
      headers,
      body: typeof body === "object" ? Readable.from(body) : (body ?? null),
      signal,
      dispatcher: this.#dispatcher,
    });
  }

  /** Aborts pending requests and closes all connections. */
  close(): void {
    void this.#dispatcher.destroy();
  }
}

export interface HttpResponse extends TransportResponse {
  readonly contentType: string | undefined;
  readonly location: string | undefined;
  readonly bytes: Buffer;
  readonly headers: Headers;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function toResponse(status: number, headers: Headers, bytes: Buffer): HttpResponse {
  return {
    status,
    bytes,
    headers,
    requestId: headerOf(headers, "x-request-id"),
    contentType: headerOf(headers, "content-type"),
    location: headerOf(headers, "location"),
    get text() {
      return bytes.toString("utf8");
    },
  };
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/** Throws a CommandError if the response is a redirect, because a request to the new location could send the key to another host. */
export function refuseRedirect({ status, location }: HttpResponse, origin: string): void {
  if (status < 300 || status > 399 || location === undefined) return;
  const target = URL.canParse(location, origin) ? new URL(location, origin) : undefined;
  throw new CommandError("REDIRECTED", `${origin} redirects to ${target?.href ?? location}, and runtimectl does not follow redirects`, {
    exitCode: exitCodes.failed,
    hint:
      target && target.origin !== origin
        ? `if that is the address of your daemon, use --url ${target.origin} and sign in there`
        : undefined,
  });
}
