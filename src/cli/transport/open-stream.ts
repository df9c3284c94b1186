import type { Client, Dispatcher } from "undici";
import { Clock } from "./clock.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import type { OutgoingRequest } from "./outgoing-request.js";
import { toResponse, type Headers, type RawResponse } from "./raw-response.js";
import { StreamedBody } from "./streamed-body.js";
import { openClient, type StreamingOptions } from "./streaming-client.js";

/** A stream that is silent for longer is lost: the daemon gives a sign of life every 15 s. */
const longestSilenceMs = 45_000;

/**
 * Sends a request whose answer is read as it comes. Resolves when it begins, which the time limit is for; an answer other than 200 is
 * read whole.
 */
export async function openStream(request: OutgoingRequest, options: StreamingOptions): Promise<RawResponse> {
  options.until.throwIfAborted();
  const client = openClient(options);
  return new Promise((resolve, reject) => {
    client.dispatch(request, new StreamHandler(client, options, { resolve, reject }));
  });
}

interface Settle {
  readonly resolve: (response: RawResponse) => void;
  readonly reject: (error: unknown) => void;
}

class StreamHandler implements Dispatcher.DispatchHandler {
  readonly #client: Client;
  readonly #options: StreamingOptions;
  readonly #settle: Settle;
  readonly #chunks: Buffer[] = [];
  readonly #clock: Clock;
  readonly #onAbort = (): void => this.#end(this.#options.until.reason as Error);
  #status = 0;
  #headers: Headers = {};
  #body: StreamedBody | undefined;

  constructor(client: Client, options: StreamingOptions, settle: Settle) {
    this.#client = client;
    this.#options = options;
    this.#settle = settle;
    this.#clock = new Clock((limitMs) => this.#end(timeoutFailure(options.origin, limitMs)));
    this.#clock.start(options.settings.timeout.value);
    options.until.addEventListener("abort", this.#onAbort);
  }

  onRequestStart(): void {}

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
    this.#settle.resolve(toResponse(this.#status, this.#headers, Buffer.concat(this.#chunks)));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish();
    this.#body?.end(connectionFailure(this.#options.origin, error) as Error);
    this.#settle.reject(error);
  }

  #finish(): void {
    this.#clock.stop();
    this.#options.until.removeEventListener("abort", this.#onAbort);
    this.#end();
  }

  #end(reason?: Error): void {
    void this.#client.destroy(reason ?? null).catch(() => undefined);
  }
}
