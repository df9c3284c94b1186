import type { Client, Transport } from "../shared/client.js";
import { createClient } from "./create-client.js";

export interface ConnectOptions {
  /** Address of the daemon, such as `https://runtime.example.com`. Only its origin counts. */
  readonly url: string;
  /** API key. Absent: only public operations succeed. */
  readonly key?: string | undefined;
  /** Path of the API, as `RUNTIME_API_PREFIX` of the daemon sets it (default `/api`). */
  readonly apiBase?: string | undefined;
  /** Sends the requests in place of the global `fetch`: for a time limit, a proxy or a certificate authority. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Returns the client of the daemon at `url`. Sends nothing yet, and follows no redirect: a key must not reach another address. */
export function connect({ url, key, apiBase, fetch = globalThis.fetch }: ConnectOptions): Client {
  const { origin } = new URL(url);
  const send: Transport = async ({ method, path, headers, body, streamUntil }) => {
    // fetch sets Content-Length itself.
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
