import { createClient, type ClientOf, type Operations, type Transport } from "../../shared/client.js";
import { runtime, type Discovery } from "../../shared/contract/discovery.js";
import { createFetchTransport, type FetchTransportOptions } from "./fetch-transport.js";
import { Observable } from "./observable.js";
import { createUploadTransport, type FilesToSend } from "./upload-transport.js";

const firstRetryMs = 1000;
const longestRetryMs = 30_000;

export interface ConnectionState {
  /** Unix milliseconds since when the daemon has been unreachable; undefined while it responds. */
  readonly awaySinceMs: number | undefined;
  /** Undefined until the discovery document arrived. */
  readonly discovery: Discovery | undefined;
}

/** Sends every call of the panel: discovers the API, detects an unreachable daemon, and retries until it responds. */
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

  /** Requests the discovery document. Does not throw: it is requested again. */
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

  /** Returns the typed client of some operations; the same client for the same operations. */
  client<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
    const api = this.#api();
    const known = this.#clients.get(operations);
    if (known?.api === api) return known.client as ClientOf<Offered>;
    const client = createClient(this.#transport, api, operations);
    this.#clients.set(operations, { api, client });
    return client;
  }

  /** Returns a client for one call that sends files and reports the progress. */
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
