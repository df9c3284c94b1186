import type { Config } from "./config/config.js";
import { Connections, listen, type Listening, type ListenTarget } from "./http/connections.js";
import { createHttpServer, type HttpServerOptions } from "./http/server.js";
import { sendNotServedHere, serveAt, type ListenerContent } from "./http/serve-at.js";

/** How long requests in flight may take to finish once the daemon stops. */
const drainTimeoutMs = 30_000;
/** How long clients of idle connections may take to send one more request then: hardly anything, for new ones are refused anyway. */
const idleGraceMs = 100;
/** The same where the next daemon has the sockets that this one listened on: a client that loses nothing in between shall lose nothing here. */
const idleGraceOfHandedOverMs = 1000;

/** Who answers a request; replaced as a whole once the services are open. */
export type Answers = { -readonly [Part in "api" | "serve" | "hostTargetOf"]: NonNullable<HttpServerOptions[Part]> };

/** Where a daemon answers, such as `http://127.0.0.1:8000`. */
export interface Origins {
  readonly address: string;
  /** Where API and panel do; the same unless they have a listener of their own. */
  readonly admin: string;
}

/** The second listener could not listen; the first one could. */
export class AdminListenError extends Error {}

interface ListenersOptions {
  readonly apiBase: string;
  readonly answers: Answers;
  readonly config: Pick<Config, "hosts" | "port" | "service" | "adminListener" | "panelHost" | "allowedHosts">;
}

interface Listener {
  readonly target: ListenTarget;
  readonly server: ReturnType<typeof createHttpServer>;
  readonly connections: Connections;
  listening: Listening | undefined;
}

/**
 * The listeners of a daemon. Without one of their own, API and panel answer at the main one. With it, they answer there and nothing else
 * does, and at the main one nothing of the API does, and no path that could mean the panel. With a host of its own the panel opens at that
 * host alone, and nothing but API and panel answers there.
 */
export class Listeners {
  readonly #main: Listener;
  readonly #admin: Listener | undefined;

  constructor({ apiBase, answers, config }: ListenersOptions) {
    const api: Answers["api"] = (request, response) => answers.api(request, response);
    const serve: Answers["serve"] = (exchange) => answers.serve(exchange);
    const hostTargetOf: Answers["hostTargetOf"] = (host) => answers.hostTargetOf(host);
    const { hosts, port, service, adminListener, panelHost, allowedHosts } = config;
    const target = { hosts, port, listenFds: service.listenFds };
    const listener = (at: ListenTarget, content: ListenerContent, handleApi: Answers["api"]): Listener =>
      toListener(at, { apiBase, allowedHosts, api: handleApi, hostTargetOf, serve: serveAt(content, { panelHost, serve }) });
    if (!adminListener) {
      this.#main = listener(target, "panel and workers", api);
      return;
    }
    this.#main = listener(target, "workers", (request, response) => sendNotServedHere(request, response));
    this.#admin = listener({ ...adminListener, listenFds: [] }, "panel", api);
  }

  /** Whether the main listener's sockets came from whoever started the daemon. */
  get isHandedOver(): boolean {
    return this.#main.target.listenFds.length > 0;
  }

  /** Undefined until it listens. */
  get origins(): Origins | undefined {
    const address = this.#main.listening?.origin;
    return address === undefined ? undefined : { address, admin: this.#admin?.listening?.origin ?? address };
  }

  /** Loopback addresses at which another program listens in the daemon's place. */
  get takenAddresses(): readonly string[] {
    return [this.#main, this.#admin].flatMap((listener) => listener?.listening?.takenAddresses ?? []);
  }

  get connectionCount(): number {
    return this.#main.connections.count + (this.#admin?.connections.count ?? 0);
  }

  /** Takes connections, unless it does already. Rejects with what Node says, as AdminListenError where it is about the second listener. */
  async listen(): Promise<Origins> {
    this.#main.listening ??= await listen(this.#main.server, this.#main.target);
    if (this.#admin && !this.#admin.listening)
      this.#admin.listening = await listen(this.#admin.server, this.#admin.target).catch((cause: NodeJS.ErrnoException) => {
        throw Object.assign(new AdminListenError(cause.message, { cause }), { code: cause.code });
      });
    return this.origins as Origins;
  }

  /** Takes nothing new; resolves when all that was begun is answered, or cut after 30 s. */
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
