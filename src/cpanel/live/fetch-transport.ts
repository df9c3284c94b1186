import type { Transport, TransportRequest, TransportResponse } from "../../shared/client.js";
import { DaemonAwayError } from "./daemon-away-error.js";

/** Time limit of a call; streams have none. */
const callTimeoutMs = 30_000;
/** Statuses of a proxy without a reachable daemon. */
const proxyFaults = new Set([502, 503, 504]);

export interface FetchTransportOptions {
  /** Prefix of every path: `/x` if a proxy serves the daemon below that, otherwise empty. */
  readonly daemonPath: string;
  readonly fetch: typeof fetch;
  readonly onAway: () => void;
  /** The credential is no longer valid. */
  readonly onRefused: () => void;
}

/** Sends calls with the browser's `fetch` to the panel's own origin. The browser adds the session cookie; the panel never has a key. */
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

/** Browsers cannot stream a request over HTTP/1.1. They can store the chunks of a Blob on the disk. */
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

/** Whether the body of a 401 means that the session is not valid. INVALID_KEY concerns a typed key. */
export function isSessionRefused(body: string): boolean {
  return /"(?:AUTH_REQUIRED|SESSION_AMBIGUOUS)"/.test(body);
}
