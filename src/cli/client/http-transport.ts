import type { TransportRequest } from "../../shared/client.js";
import { version } from "../version.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import { HttpClient, refuseRedirect, toResponse, type ConnectSettings, type OutgoingRequest, type HttpResponse } from "./http-client.js";

/**
 * Time limit for the response to an upload. Longer than the limit of other calls, because the daemon unpacks and installs the archive
 * before the response.
 */
const uploadAnswerTimeoutMs = 10 * 60_000;
/**
 * Time without data after which the client treats a stream as broken. The daemon sends a keep-alive comment every 15 s, so three comments
 * in a row are missing.
 */
const longestSilenceMs = 45_000;

const secretHeaders: ReadonlySet<string> = new Set(["x-api-key", "authorization", "cookie", "set-cookie"]);

interface TransportOptions {
  readonly origin: string;
  readonly settings: ConnectSettings;
  readonly signal: AbortSignal;
  /** Callback that receives trace lines without credentials: one line per request (level 1) and per header (level 2). */
  readonly trace: (line: string, level?: 1 | 2) => void;
}

/** Sends requests to one origin. Rejects redirects, because a request to the new location could send the key to another host. */
export class HttpTransport {
  readonly #client: HttpClient;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#client = new HttpClient(options.origin, options.settings);
  }

  /**
   * Sends one request, with the key if defined. The time limit covers request and response, and starts again after each uploaded chunk. A
   * streamed response has no time limit after the response headers.
   */
  async send(request: TransportRequest, key: string | undefined): Promise<HttpResponse> {
    const { origin, signal, trace } = this.#options;
    signal.throwIfAborted();
    trace(`> ${request.method} ${origin}${request.path}`);
    const { method, path, body, streamUntil: until } = request;
    const outgoing = { method, path, headers: headersOf(request, { origin, key }) };
    for (const [name, value] of Object.entries(outgoing.headers)) trace(`> ${shownHeader(name, value)}`, 2);
    const response = until ? await this.#open(outgoing, until) : await this.#exchange(outgoing, body);
    refuseRedirect(response, origin);
    return response;
  }

  /** Sends a request and reads the complete response. */
  async #exchange(request: OutgoingRequest, body: TransportRequest["body"]): Promise<HttpResponse> {
    const { origin, signal, trace, settings } = this.#options;
    const limitMs = settings.timeout.value;
    const startedAtMs = Date.now();
    const end = new AbortController();
    const clock = new Clock((ms) => end.abort(timeoutFailure(origin, ms)));
    const until = AbortSignal.any([signal, end.signal]);
    clock.start(limitMs);
    try {
      const sent = typeof body === "object" ? watched(body, clock, limitMs) : body;
      const { statusCode, headers, body: received } = await this.#client.send(request, sent, until);
      const response = toResponse(statusCode, headers, Buffer.from(await received.arrayBuffer()));
      const id = response.requestId === undefined ? "" : `, request ${response.requestId}`;
      trace(`< ${response.status} in ${Date.now() - startedAtMs} ms${id}`);
      for (const [name, value] of Object.entries(response.headers)) trace(`< ${shownHeader(name, value)}`, 2);
      return response;
    } catch (error) {
      throw this.#failureOf(error, until);
    } finally {
      clock.stop();
    }
  }

  /**
   * Sends a request and returns a streamed response. The time limit covers only the response headers. If the status is not 200, reads the
   * complete response.
   */
  async #open(request: OutgoingRequest, until: AbortSignal): Promise<HttpResponse> {
    const { origin, settings } = this.#options;
    const end = new AbortController();
    const clock = new Clock((ms) => end.abort(timeoutFailure(origin, ms)));
    const signal = AbortSignal.any([until, end.signal]);
    clock.start(settings.timeout.value);
    try {
      const { statusCode, headers, body } = await this.#client.send(request, undefined, signal);
      if (statusCode === 200) return { ...toResponse(statusCode, headers, Buffer.alloc(0)), pieces: this.#pieces(body, { clock, signal }) };
      return toResponse(statusCode, headers, Buffer.from(await body.arrayBuffer()));
    } catch (error) {
      clock.stop();
      throw this.#failureOf(error, signal);
    }
  }

  async *#pieces(body: AsyncIterable<Uint8Array>, { clock, signal }: { clock: Clock; signal: AbortSignal }): AsyncGenerator<Uint8Array> {
    clock.start(longestSilenceMs);
    try {
      for await (const piece of body) {
        clock.start(longestSilenceMs);
        yield piece;
      }
    } catch (error) {
      throw this.#failureOf(error, signal);
    } finally {
      clock.stop();
    }
  }

  /** Aborts pending requests and closes all connections. */
  close(): void {
    this.#client.close();
  }

  #failureOf(error: unknown, until: AbortSignal): unknown {
    const { origin, settings } = this.#options;
    return until.aborted ? until.reason : connectionFailure({ origin, proxy: settings.proxy?.value }, error);
  }
}

/** Returns the headers of a request. If `key` is defined, the headers contain the key. */
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

function shownHeader(name: string, value: unknown): string {
  return `${name}: ${secretHeaders.has(name.toLowerCase()) ? "[hidden]" : String(value)}`;
}

async function* watched(pieces: AsyncIterable<Uint8Array>, clock: Clock, pieceTimeoutMs: number): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    clock.start(pieceTimeoutMs);
    yield piece;
  }
  clock.start(Math.max(pieceTimeoutMs, uploadAnswerTimeoutMs));
}

/** Calls `onEnd` after a time limit. The caller can restart the time limit. */
class Clock {
  readonly #onEnd: (limitMs: number) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onEnd: (limitMs: number) => void) {
    this.#onEnd = onEnd;
  }

  start(limitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onEnd(limitMs), limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
