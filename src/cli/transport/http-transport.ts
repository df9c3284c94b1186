import type { TransportRequest } from "../../shared/client.js";
import { version } from "../version.js";
import { Clock } from "./clock.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import type { ConnectSettings, OutgoingRequest } from "./outgoing-request.js";
import { PlainClient } from "./plain-client.js";
import { refuseRedirect, type RawResponse } from "./raw-response.js";

/** An upload is unpacked and installed before it is answered. */
const uploadAnswerTimeoutMs = 10 * 60_000;

export interface TransportOptions {
  readonly origin: string;
  readonly settings: ConnectSettings;
  readonly signal: AbortSignal;
  /** Told of every call, without credentials; its headers are of level 2. */
  readonly trace: (line: string, level?: 1 | 2) => void;
}

/**
 * Sends requests to one origin. Follows no redirect: a key must not travel where nobody sent it. Bodies that stream, up or down, go
 * through undici; everything else through Node's own client, which is there at once, where undici takes half an empty Node's start.
 */
export class HttpTransport {
  readonly #plain: PlainClient;
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#plain = new PlainClient(options.origin, options.settings);
  }

  /**
   * Sends one request, with the key when there is one. The time limit is for the whole exchange; during an upload it starts anew with each
   * piece. An answer that is streamed may last as long as it likes.
   */
  async send(request: TransportRequest, key: string | undefined): Promise<RawResponse> {
    const { origin, signal, trace, settings } = this.#options;
    signal.throwIfAborted();
    trace(`> ${request.method} ${origin}${request.path}`);
    const { method, path, body, streamUntil: until } = request;
    const outgoing = { method, path, headers: headersOf(request, { origin, key }) };
    for (const [name, value] of Object.entries(outgoing.headers)) trace(`> ${shownHeader(name, value)}`, 2);
    try {
      const response = until
        ? await import("./open-stream.js").then(({ openStream }) => openStream(outgoing, { origin, settings, until }))
        : await this.#exchange(outgoing, body);
      refuseRedirect(response, origin);
      return response;
    } catch (error) {
      throw connectionFailure(origin, error);
    }
  }

  async #exchange(request: OutgoingRequest, body: TransportRequest["body"]): Promise<RawResponse> {
    const { origin, signal, trace, settings } = this.#options;
    const startedAtMs = Date.now();
    const end = new AbortController();
    const clock = new Clock((limitMs) => end.abort(timeoutFailure(origin, limitMs)));
    const onAbort = () => end.abort(signal.reason);
    signal.addEventListener("abort", onAbort);
    clock.start(settings.timeout.value);
    try {
      const response =
        typeof body === "object"
          ? await import("./upload.js").then(({ upload }) =>
              upload(request, watched(body, clock, settings.timeout.value), { origin, settings, until: end.signal }),
            )
          : await this.#plain.ask(request, body, end.signal);
      const id = response.requestId === undefined ? "" : `, request ${response.requestId}`;
      trace(`< ${response.status} in ${Date.now() - startedAtMs} ms${id}`);
      for (const [name, value] of Object.entries(response.headers)) trace(`< ${shownHeader(name, value)}`, 2);
      return response;
    } catch (error) {
      throw end.signal.aborted ? end.signal.reason : error;
    } finally {
      clock.stop();
      signal.removeEventListener("abort", onAbort);
    }
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

const secretHeaders: ReadonlySet<string> = new Set(["x-api-key", "authorization", "cookie", "set-cookie"]);

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
