import { Readable } from "node:stream";
import { request } from "undici";
import { createClient, type Client, type Transport } from "../../src/shared/client.js";
import { contract } from "../../src/shared/contract/index.js";

/** Creates the typed client for a running daemon. Every response is checked against the contract. */
export function connect(url: string, key: string, options: { apiBase?: string } = {}): Client {
  const origin = new URL(url).origin;
  const send: Transport = async ({ method, path, headers, body, streamUntil }) => {
    const response = await request(origin + path, {
      method: method as "GET",
      headers: { ...headers, "x-api-key": key, origin },
      body: typeof body === "string" || body === undefined ? (body ?? null) : Readable.from(body),
      signal: streamUntil ?? null,
    });
    const requestId = String(response.headers["x-request-id"]);
    if (streamUntil && response.statusCode === 200) return { status: 200, requestId, text: "", pieces: response.body };
    return { status: response.statusCode, requestId, text: await response.body.text() };
  };
  return createClient(send, options.apiBase ?? "/api", contract);
}

/** Returns bytes in memory as an upload. */
export function uploadOf(filename: string, bytes: Uint8Array): { filename: string; sizeBytes: number; bytes: AsyncIterable<Uint8Array> } {
  return { filename, sizeBytes: bytes.length, bytes: Readable.from([bytes]) };
}
