import { isIP } from "node:net";
import { Readable } from "node:stream";
import { Agent, ProxyAgent, request, type Dispatcher } from "undici";
import type { Settings } from "../config/settings.js";

/** A request to one origin as it goes out, credential included. */
export interface OutgoingRequest {
  readonly method: string;
  /** From the origin on, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What decides how an origin is reached. */
export type ConnectSettings = Pick<Settings, "certificateAuthorities" | "insecure" | "proxy" | "timeout">;

/** No time limits of undici's own: the caller ends a request by its signal. */
const unlimited = { headersTimeout: 0, bodyTimeout: 0 };

/** HTTP to one origin, through the proxy when there is one. Follows no redirect. Keeps its connection for the next request. */
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

  /** Sends a request and resolves when the head of its response is there. Rejects with the signal's reason when it aborts. */
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

  /** Ends what is under way and closes the connections. */
  close(): void {
    void this.#dispatcher.destroy();
  }
}
