import { createClient, type ClientOf, type Operations, type Transport } from "../../shared/client.js";
import { runtime, type Discovery } from "../../shared/contract/discovery.js";
import { createFetchTransport, type FetchTransportOptions } from "./fetch-transport.js";
import { Observable } from "./observable.js";
import { createUploadTransport, type FilesToSend } from "./upload-transport.js";

const firstRetryMs = 1000;
const longestRetryMs = 30_000;

export interface ConnectionState {
  /** Time since which the daemon has been unreachable, in Unix milliseconds. Undefined while the daemon responds. */
  readonly awaySinceMs: number | undefined;
  /** The daemon's discovery document, with version and API path. Undefined until the document has arrived. */
  readonly discovery: Discovery | undefined;
}

/**
 * Sends all API calls of the panel. Discovers the path of the API. Detects when the daemon becomes unreachable and when it responds again.
 */
export class Connection {
  readonly state = new Observable<ConnectionState>({ awaySinceMs: undefined, discovery: undefined });
  readonly #transport: Transport;
  readonly #transportOptions: FetchTransportOptions;
  readonly #clients = new WeakMap<Operations, { readonly api: string; readonly client: unknown }>();
  #retryMs = firstRetryMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Omit<FetchTransportOptions, "onAway">) {
    this.#transportOptions = { ...options, onAway: () => this.#goAway() };
    this.#transport = createFetchTransport(this.#transportOptions);
  }

  /** Requests the discovery document. Does not throw. After a failure, the panel repeats the request later. */
  async find(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      const found = await createClient(this.#transport, "", { discovery: { runtime } }).discovery.runtime();
      this.#retryMs = firstRetryMs;
      this.state.set({ awaySinceMs: undefined, discovery: found });
    } catch {
      this.#goAway();
    }
  }

  /** Returns the typed client for the operations. Calls with the same operations return the same client. */
  client<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
    const api = this.#api();
    const known = this.#clients.get(operations);
    if (known?.api === api) return known.client as ClientOf<Offered>;
    const client = createClient(this.#transport, api, operations);
    this.#clients.set(operations, { api, client });
    return client;
  }

  /** Returns a client for a single call that uploads files. The client reports the progress of the upload. */
  uploadClient<Offered extends Operations>(operations: Offered, sent: FilesToSend): ClientOf<Offered> {
    return createClient(createUploadTransport(this.#transportOptions, sent), this.#api(), operations);
  }

  #api(): string {
    const api = this.state.get().discovery?.api;
    if (api === undefined) throw new Error("the API is not found yet");
    return api;
  }

  #goAway(): void {
    if (this.#timer !== undefined) return;
    const state = this.state.get();
    this.state.set({ ...state, awaySinceMs: state.awaySinceMs ?? Date.now() });
    this.#timer = setTimeout(() => void this.find(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }
}
