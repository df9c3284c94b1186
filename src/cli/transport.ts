import type { Client } from "undici";
import HttpClient from "undici/lib/dispatcher/client.js";
import type { TransportRequest } from "../shared/client.js";
import { Clock } from "./clock.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import { openStream } from "./open-stream.js";
import { redirectFailure, toResponse, type Headers, type RawResponse } from "./raw-response.js";
import type { Settings } from "./settings.js";
import { version } from "./version.js";

/** An upload is unpacked and installed before it is answered. */
const uploadAnswerTimeoutMs = 10 * 60_000;

export interface TransportOptions {
  readonly origin: string;
  readonly settings: Pick<Settings, "certificateAuthorities" | "insecure" | "timeout">;
  readonly signal: AbortSignal;
  /** Told of every call, without credentials. */
  readonly trace: (line: string) => void;
}

/** Sends requests to one origin over one connection. Follows no redirect: a key must not travel where nobody sent it. */
export class HttpTransport {
  readonly #client: Client;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    const { certificateAuthorities: ca, insecure, timeout } = options.settings;
    this.#options = options;
    this.#client = new HttpClient(options.origin, {
      connect: { timeout: timeout.value, rejectUnauthorized: !insecure, ...(ca === undefined ? {} : { ca }) },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * Sends one request, with the key when there is one. The time limit is for the whole exchange; during an upload it starts anew with each
   * piece. An answer that is streamed may last as long as it likes.
   */
  async send(request: TransportRequest, key: string | undefined): Promise<RawResponse> {
    const { origin, signal, trace, settings } = this.#options;
    signal.throwIfAborted();
    trace(`> ${request.method} ${origin}${request.path}`);
    if (request.streamUntil) return this.#stream(request, key, request.streamUntil);
    const startedAtMs = Date.now();
    const end = (reason: unknown) => void this.#client.destroy(reason as Error).catch(() => undefined);
    const clock = new Clock((limitMs) => end(timeoutFailure(origin, limitMs)));
    const onAbort = () => end(signal.reason);
    signal.addEventListener("abort", onAbort);
    clock.start(settings.timeout.value);
    try {
      const response = await this.#dispatch(request, key, clock);
      const id = response.requestId === undefined ? "" : `, request ${response.requestId}`;
      trace(`< ${response.status} in ${Date.now() - startedAtMs} ms${id}`);
      return response;
    } catch (error) {
      throw connectionFailure(origin, error);
    } finally {
      clock.stop();
      signal.removeEventListener("abort", onAbort);
    }
  }

  close(): void {
    void this.#client.destroy().catch(() => undefined);
  }

  #stream({ path, headers }: TransportRequest, key: string | undefined, until: AbortSignal): Promise<RawResponse> {
    const { origin, settings } = this.#options;
    const request = { path, headers: headersOf({ headers }, { origin, key }) };
    return openStream(this.#client, request, { origin, until, timeoutMs: settings.timeout.value });
  }

  #dispatch(request: TransportRequest, key: string | undefined, clock: Clock): Promise<RawResponse> {
    const { origin, settings } = this.#options;
    const headers = headersOf(request, { origin, key });
    const body = typeof request.body === "object" ? watched(request.body, clock, settings.timeout.value) : (request.body ?? null);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let status = 0;
      let received: Headers = {};
      this.#client.dispatch(
        // The types of dispatch leave out async iterables, which it takes.
        { method: request.method, path: request.path, headers, body: body as string | null },
        {
          onRequestStart: () => {},
          onResponseStart: (_controller, statusCode, responseHeaders) => {
            status = statusCode;
            received = responseHeaders;
          },
          onResponseData: (_controller, chunk) => void chunks.push(chunk),
          onResponseEnd: () => {
            const response = toResponse(status, received, Buffer.concat(chunks));
            const redirect = redirectFailure(response, received, origin);
            if (redirect) reject(redirect);
            else resolve(response);
          },
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  }
}

/** What goes with every request. */
function headersOf(
  request: Pick<TransportRequest, "headers">,
  { origin, key }: { origin: string; key: string | undefined },
): Record<string, string> {
  return {
    accept: "application/json",
    origin,
    "user-agent": `runtimectl/${version}`,
    ...request.headers,
    ...(key === undefined ? {} : { "x-api-key": key }),
  };
}

async function* watched(pieces: AsyncIterable<Uint8Array>, clock: Clock, pieceTimeoutMs: number): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    clock.start(pieceTimeoutMs);
    yield piece;
  }
  clock.start(Math.max(pieceTimeoutMs, uploadAnswerTimeoutMs));
}
