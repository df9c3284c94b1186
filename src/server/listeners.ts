import type { IncomingMessage } from "node:http";
import type { Config } from "./config/config.js";
import { Connections, listen, type Listening, type ListenTarget } from "./http/connections.js";
import { createHttpServer, type HttpServerOptions } from "./http/server.js";
import { sendNotServedHere, serveAt, type ListenerContent } from "./http/serve-at.js";

/** Time limit for running requests when the daemon stops. */
const drainTimeoutMs = 30_000;
/**
 * Time for which a client can still use an idle connection for one last request when the daemon stops. The time is short, because the
 * daemon rejects new connections in any case.
 */
const idleGraceMs = 100;
/**
 * Grace period for idle connections if the next daemon process inherits the sockets. A restart then interrupts no client, so this daemon
 * must not close a connection on which a client is about to send a request.
 */
const idleGraceOfHandedOverMs = 1000;

/** Request handlers. The daemon replaces both when all services are open. */
export type RequestHandlers = { -readonly [Part in "api" | "serve" | "hostTargetOf"]: NonNullable<HttpServerOptions[Part]> };

/** The origins at which a daemon listens, such as `http://127.0.0.1:8000`. */
export interface Origins {
  readonly address: string;
  /** Origin of the API and the panel. Equals `address` without an admin listener. */
  readonly admin: string;
}

/** Thrown when the admin listener cannot listen, although the main listener can. */
export class AdminListenError extends Error {}

interface ListenersOptions {
  readonly apiBase: string;
  readonly handlers: RequestHandlers;
  readonly config: Pick<Config, "hosts" | "port" | "service" | "adminListener" | "panelHost" | "allowedHosts">;
}

interface Listener {
  readonly target: ListenTarget;
  readonly server: ReturnType<typeof createHttpServer>;
  readonly connections: Connections;
  listening: Listening | undefined;
}

/**
 * All listeners of a daemon. With an admin listener, the main listener serves neither the API nor the panel. With a panel host, this host
 * serves only the API and the panel, and no other host serves the panel.
 */
export class Listeners {
  readonly #main: Listener;
  readonly #admin: Listener | undefined;
  /** The GET and HEAD requests that the API received. */
  readonly #readsOfApi = new WeakSet<IncomingMessage>();

  constructor({ apiBase, handlers, config }: ListenersOptions) {
    const api: RequestHandlers["api"] = (request, response) => {
      if (request.method === "GET" || request.method === "HEAD") this.#readsOfApi.add(request);
      return handlers.api(request, response);
    };
    const serve: RequestHandlers["serve"] = (exchange) => handlers.serve(exchange);
    const hostTargetOf: RequestHandlers["hostTargetOf"] = (host) => handlers.hostTargetOf(host);
    const { hosts, port, service, adminListener, panelHost, allowedHosts } = config;
    const target = { hosts, port, listenFds: service.listenFds };
    const listener = (at: ListenTarget, content: ListenerContent, handleApi: RequestHandlers["api"]): Listener =>
      toListener(at, { apiBase, allowedHosts, api: handleApi, hostTargetOf, serve: serveAt(content, { panelHost, serve }) });
    if (!adminListener) {
      this.#main = listener(target, "panel and workers", api);
      return;
    }
    this.#main = listener(target, "workers", (request, response) => sendNotServedHere(request, response));
    this.#admin = listener({ ...adminListener, listenFds: [] }, "panel", api);
  }

  /** True if the daemon has inherited the sockets of the main listener from systemd. */
  get isHandedOver(): boolean {
    return this.#main.target.listenFds.length > 0;
  }

  /** The origins of the listeners. Undefined before `listen`. */
  get origins(): Origins | undefined {
    const address = this.#main.listening?.origin;
    return address === undefined ? undefined : { address, admin: this.#admin?.listening?.origin ?? address };
  }

  /** Loopback addresses with the daemon's port on which another program listens. */
  get takenAddresses(): readonly string[] {
    return [this.#main, this.#admin].flatMap((listener) => listener?.listening?.takenAddresses ?? []);
  }

  get connectionCount(): number {
    return this.#main.connections.count + (this.#admin?.connections.count ?? 0);
  }

  /** Number of requests without a complete response. Reads of the API and upgraded connections do not count. */
  get requestsInFlight(): number {
    const listeners = [this.#main, this.#admin];
    const counts = listeners.map((listener) => listener?.connections.countInFlight((request) => !this.#readsOfApi.has(request)) ?? 0);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Starts to accept connections on all listeners that do not accept connections yet. Rejects with the error of Node.js. For the admin
   * listener, rejects with AdminListenError.
   */
  async listen(): Promise<Origins> {
    this.#main.listening ??= await listen(this.#main.server, this.#main.target);
    if (this.#admin && !this.#admin.listening)
      this.#admin.listening = await listen(this.#admin.server, this.#admin.target).catch((cause: NodeJS.ErrnoException) => {
        throw Object.assign(new AdminListenError(cause.message, { cause }), { code: cause.code });
      });
    return this.origins as Origins;
  }

  /** Accepts no new connections. Resolves when all requests are complete. After 30 s, closes the remaining connections. */
  async drain(): Promise<void> {
    await Promise.all([this.#main, this.#admin].map((listener) => this.#drain(listener)));
  }

  async #drain(listener: Listener | undefined): Promise<void> {
    const listening = listener?.listening;
    await (listening &&
      listener.connections.drain({
        timeoutMs: drainTimeoutMs,
        idleGraceMs: listener.target.listenFds.length > 0 ? idleGraceOfHandedOverMs : idleGraceMs,
        stopAccepting: () => listening.stopAccepting(),
      }));
  }
}

function toListener(target: ListenTarget, options: HttpServerOptions): Listener {
  const server = createHttpServer(options);
  return { target, server, connections: new Connections(server), listening: undefined };
}
