import type { Client, Transport } from "../shared/client.js";
import { createClient } from "./create-client.js";

export interface ConnectOptions {
  /** URL of the daemon, such as `https://runtime.example.com`. The client uses only its origin. */
  readonly url: string;
  /** API key. Without a key, only public operations succeed. */
  readonly key?: string | undefined;
  /** Base path of the API, which the operator of the daemon sets with `RUNTIME_API_PREFIX`. Default: `/api`. */
  readonly apiBase?: string | undefined;
  /** Function that sends the requests in place of the global `fetch`, for example with a time limit, a proxy or a certificate authority. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/**
 * Returns a client for the daemon at `url`. Sends no request yet. The client follows no redirects, so that the key never reaches another
 * address.
 */
export function connect({ url, key, apiBase, fetch = globalThis.fetch }: ConnectOptions): Client {
  const { origin } = new URL(url);
  const send: Transport = async ({ method, path, headers, body, streamUntil }) => {
    // Removes the header Content-Length, because `fetch` computes and sends this header.
    const { "content-length": _length, ...others } = headers;
    const response = await fetch(origin + path, {
      method,
      headers: { accept: "application/json", origin, ...others, ...(key !== undefined && { "x-api-key": key }) },
      redirect: "manual",
      ...(body !== undefined && { body: typeof body === "string" ? body : ReadableStream.from(body), duplex: "half" as const }),
      ...(streamUntil && { signal: streamUntil }),
    });
    const { status, headers: received } = response;
    const head = { status, requestId: received.get("x-request-id") ?? undefined, etag: received.get("etag") ?? undefined };
    if (streamUntil && response.ok && response.body) return { ...head, text: "", pieces: response.body };
    return { ...head, text: await response.text() };
  };
  return createClient(send, apiBase);
}
