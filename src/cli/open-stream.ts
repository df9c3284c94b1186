import type { Client, Dispatcher } from "undici";
import { Clock } from "./clock.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import { redirectFailure, toResponse, type Headers, type RawResponse } from "./raw-response.js";
import { StreamedBody } from "./streamed-body.js";

/** A stream that is silent for longer is lost: the daemon gives a sign of life every 15 s. */
const longestSilenceMs = 45_000;

export interface OpenStreamOptions {
  readonly origin: string;
  /** Ends the stream. */
  readonly until: AbortSignal;
  /** For the beginning of the answer; then the stream may last as long as it likes. */
  readonly timeoutMs: number;
}

/** Sends a GET whose answer is read as it comes. Resolves when it begins; an answer other than 200 is read whole. */
export async function openStream(
  client: Client,
  request: { path: string; headers: Record<string, string> },
  options: OpenStreamOptions,
): Promise<RawResponse> {
  try {
    return await new Promise<RawResponse>((resolve, reject) => {
      client.dispatch({ method: "GET", ...request }, new StreamHandler(options, { resolve, reject }));
    });
  } catch (error) {
    throw connectionFailure(options.origin, error);
  }
}

interface Settle {
  readonly resolve: (response: RawResponse) => void;
  readonly reject: (error: unknown) => void;
}

class StreamHandler implements Dispatcher.DispatchHandler {
  readonly #options: OpenStreamOptions;
  readonly #settle: Settle;
  readonly #chunks: Buffer[] = [];
  readonly #clock: Clock;
  readonly #onAbort = (): void => this.#controller?.abort(this.#options.until.reason as Error);
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Headers = {};
  #body: StreamedBody | undefined;

  constructor(options: OpenStreamOptions, settle: Settle) {
    this.#options = options;
    this.#settle = settle;
    this.#clock = new Clock((limitMs) => this.#controller?.abort(timeoutFailure(options.origin, limitMs)));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { until, timeoutMs } = this.#options;
    if (until.aborted) return this.#onAbort();
    until.addEventListener("abort", this.#onAbort);
    this.#clock.start(timeoutMs);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = headers;
    if (status !== 200) return;
    this.#clock.start(longestSilenceMs);
    this.#body = new StreamedBody(controller);
    this.#settle.resolve({ ...toResponse(status, headers, Buffer.alloc(0)), pieces: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body) return void this.#chunks.push(chunk);
    this.#clock.start(longestSilenceMs);
    this.#body.push(chunk);
  }

  onResponseEnd(): void {
    this.#finish();
    if (this.#body) return this.#body.end();
    const response = toResponse(this.#status, this.#headers, Buffer.concat(this.#chunks));
    const redirect = redirectFailure(response, this.#headers, this.#options.origin);
    if (redirect) this.#settle.reject(redirect);
    else this.#settle.resolve(response);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish();
    this.#body?.end(connectionFailure(this.#options.origin, error) as Error);
    this.#settle.reject(error);
  }

  #finish(): void {
    this.#clock.stop();
    this.#options.until.removeEventListener("abort", this.#onAbort);
  }
}
