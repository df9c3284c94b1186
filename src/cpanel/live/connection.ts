import { createClient, type ClientOf, type Operations, type Transport } from "../../shared/client.js";
import { runtime, type Discovery } from "../../shared/contract/discovery.js";
import { createFetchTransport, type FetchTransportOptions } from "./fetch-transport.js";
import { Observable } from "./observable.js";
import { createUploadTransport, type FilesToSend } from "./upload-transport.js";

const firstRetryMs = 1000;
const longestRetryMs = 30_000;

export interface ConnectionState {
  /** When the daemon was first found to be unreachable; undefined while it answers. Milliseconds of the clock. */
  readonly awaySinceMs: number | undefined;
  /** Undefined until the daemon said where its API is. */
  readonly discovery: Discovery | undefined;
}

/** The one way to the daemon: finds the API by discovery, notices when nobody answers, and tries again until somebody does. */
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

  /** Asks where the API is; does not throw, since it is tried again when nobody answers. */
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

  /** The typed client of some operations; the same one for the same operations. */
  client<Offered extends Operations>(operations: Offered): ClientOf<Offered> {
    const api = this.#api();
    const known = this.#clients.get(operations);
    if (known?.api === api) return known.client as ClientOf<Offered>;
    const client = createClient(this.#transport, api, operations);
    this.#clients.set(operations, { api, client });
    return client;
  }

  /** A client for one call that sends files and tells how far it is. */
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
