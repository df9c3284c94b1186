import type { Transport, TransportRequest, TransportResponse } from "../../shared/client.js";
import { DaemonAwayError } from "./daemon-away-error.js";

/** How long a call may take until its answer is there; streams have no such end. */
const callTimeoutMs = 30_000;
/** What a proxy says when nobody is behind it. */
const proxyFaults = new Set([502, 503, 504]);

export interface FetchTransportOptions {
  /** Put before every path: `/x` when a proxy serves the daemon below that, else empty. */
  readonly daemonPath: string;
  readonly fetch: typeof fetch;
  readonly onAway: () => void;
  /** The credential does not count any more. */
  readonly onRefused: () => void;
}

/** Calls by the browser's `fetch`, to the panel's own origin. The cookie goes along by itself; nothing here ever sees a key. */
export function createFetchTransport({ daemonPath, fetch, onAway, onRefused }: FetchTransportOptions): Transport {
  return async (request) => {
    let response: Response;
    try {
      response = await fetch(daemonPath + request.path, await toInit(request));
    } catch (cause) {
      if (request.streamUntil?.aborted) throw cause;
      onAway();
      throw new DaemonAwayError(cause);
    }
    const isOurs = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    if (proxyFaults.has(response.status) && !isOurs) {
      onAway();
      throw new DaemonAwayError(`status ${response.status}`);
    }
    const answer = await toAnswer(request, response);
    if (response.status === 401 && isSessionRefused(answer.text)) onRefused();
    return answer;
  };
}

async function toInit({ method, headers, body, streamUntil }: TransportRequest): Promise<RequestInit> {
  return {
    method,
    headers,
    credentials: "same-origin",
    cache: "no-store",
    redirect: "error",
    signal: streamUntil ?? AbortSignal.timeout(callTimeoutMs),
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : await toBlob(body) }),
  };
}

/** Browsers stream no request over HTTP/1.1; a Blob of pieces leaves it to them where the bytes lie. */
async function toBlob(pieces: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of pieces) parts.push(piece as Uint8Array<ArrayBuffer>);
  return new Blob(parts);
}

async function toAnswer(request: TransportRequest, response: Response): Promise<TransportResponse> {
  const answer = { status: response.status, requestId: response.headers.get("x-request-id") ?? undefined };
  if (request.streamUntil && response.ok && response.body) {
    return { ...answer, text: "", pieces: piecesOf(response.body), etag: response.headers.get("etag") ?? undefined };
  }
  return { ...answer, text: await response.text() };
}

/** Safari cannot iterate over a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Whether the body of a 401 means that the session does not count; INVALID_KEY is about a key that was typed in. */
export function isSessionRefused(body: string): boolean {
  return /"(?:AUTH_REQUIRED|SESSION_AMBIGUOUS)"/.test(body);
}
