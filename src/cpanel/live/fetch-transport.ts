import type { Transport, TransportRequest, TransportResponse } from "../../shared/client.js";
import { DaemonAwayError } from "./daemon-away-error.js";

/** Time limit of a call in milliseconds. A streamed response has no time limit. */
const callTimeoutMs = 30_000;
/** HTTP statuses with which a proxy responds if the proxy cannot reach the daemon. */
const proxyFaults = new Set([502, 503, 504]);

export interface FetchTransportOptions {
  /** Prefix of every request path: `/x` if a proxy serves the daemon below `/x`, otherwise empty. */
  readonly daemonPath: string;
  readonly fetch: typeof fetch;
  readonly onAway: () => void;
  /** Callback that runs when the daemon rejects the session with status 401. */
  readonly onRefused: () => void;
}

/** Creates a transport that sends calls with `fetch` to the origin of the panel. The browser adds the session cookie to each call. */
export function createFetchTransport({ daemonPath, fetch, onAway, onRefused }: FetchTransportOptions): Transport {
  return async (request) => {
    let response: Response;
    try {
      response = await fetch(daemonPath + request.path, await toInit(request));
    } catch (cause) {
      if (request.streamUntil?.aborted) throw cause;
      onAway();
      throw new DaemonAwayError(cause, request.method);
    }
    const isOurs = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    if (proxyFaults.has(response.status) && !isOurs) {
      onAway();
      throw new DaemonAwayError(`status ${response.status}`, request.method);
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

/**
 * Collects the body of a request in a Blob, because browsers cannot stream a request over HTTP/1.1. A browser can keep a large Blob on the
 * disk.
 */
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

/** Reads a response body with a reader, because Safari cannot iterate over a `ReadableStream` with `for await`. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Whether a 401 response means that the session is invalid. Returns false for the error code `INVALID_KEY`, with which the daemon rejects a
 * key that the user typed into the sign-in form.
 */
export function isSessionRefused(body: string): boolean {
  return /"(?:AUTH_REQUIRED|SESSION_AMBIGUOUS)"/.test(body);
}
