import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer, isIPv6, Server as NetServer, type Socket, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** Interval at which the daemon closes idle connections while it drains the server. */
const sweepIntervalMs = 50;
/**
 * Time without received bytes after which a connection counts as idle. A connection with a pending response is never idle. A connection
 * with an incomplete request can be idle.
 */
const quietTimeoutMs = 2000;

/**
 * Number of checks for stalled connections within one time limit. The daemon therefore detects a stalled connection at most a sixth of the
 * limit late.
 */
const checksPerTimeout = 6;

interface DrainOptions {
  readonly timeoutMs: number;
  readonly idleGraceMs: number;
  readonly stopAccepting: () => Promise<void>;
}

/** The open connections of an HTTP server. Stops the server without interrupting a response. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that no longer use HTTP, such as WebSockets. The code that accepted the upgrade closes such a connection. */
  readonly #upgraded = new WeakSet<Duplex>();
  readonly #quiet = new WeakMap<Socket, { readonly bytesRead: number; readonly sinceMs: number }>();
  /** Running responses that the drain has registered. The end of such a response restarts the idle time if the connection stays open. */
  readonly #awaited = new WeakSet<ServerResponse>();
  /**
   * Time in ms at which the idle time of the drain began. The idle time begins again when a registered response ends and keeps its
   * connection open.
   */
  #idleSinceMs = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    if (server.listenerCount("upgrade") > 0) {
      server.prependListener("upgrade", (_request: IncomingMessage, socket: Duplex) => this.#upgraded.add(socket));
    }
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Counts the requests without a complete response for which `isCounted` returns true. Does not count upgraded connections. */
  countInFlight(isCounted: (request: IncomingMessage) => boolean): number {
    let count = 0;
    for (const socket of this.#sockets) {
      const answer = responseInFlight(socket);
      if (answer && !this.#upgraded.has(socket) && isCounted(answer.req)) count += 1;
    }
    return count;
  }

  /**
   * Lets each connection send one last response and closes idle connections. Destroys all other connections after `timeoutMs`. In the first
   * `idleGraceMs`, no connection counts as idle. `stopAccepting` resolves when all connections are closed.
   */
  async drain({ timeoutMs, idleGraceMs, stopAccepting }: DrainOptions): Promise<void> {
    this.#idleSinceMs = performance.now();
    this.#server.prependListener("request", (_request, response) => (response.shouldKeepAlive = false));
    const timer = setTimeout(() => this.#destroyAll(), timeoutMs);
    // Runs after Node.js has read the sockets in this turn of the event loop, so that a connection with new input does not count as idle.
    const sweeper = setInterval(() => setImmediate(() => this.#closeIdle(idleGraceMs)), sweepIntervalMs);
    this.#awaitResponses();
    await stopAccepting();
    clearTimeout(timer);
    clearInterval(sweeper);
  }

  /** Destroys all connections, including upgraded connections, which the server of Node.js does not count. */
  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #closeIdle(idleGraceMs: number): void {
    this.#awaitResponses();
    if (performance.now() - this.#idleSinceMs < idleGraceMs) return;
    const sockets = [...this.#sockets];
    // Does not call `closeIdleConnections` while an ended response has unsent bytes, because this function would close the connection of
    // the response.
    if (!sockets.some((socket) => responseInFlight(socket)?.writableEnded)) this.#server.closeIdleConnections();
    // Also closes quiet connections without a request, which `closeIdleConnections` does not close. A client that sends no request must not
    // delay the stop.
    for (const socket of sockets) if (!responseInFlight(socket) && !this.#upgraded.has(socket) && this.#isQuiet(socket)) socket.destroy();
  }

  /**
   * Registers the running responses whose end restarts the idle time. A response with the header `Connection: close` does not count,
   * because the client then opens a new connection for the next request.
   */
  #awaitResponses(): void {
    for (const socket of this.#sockets) {
      const answer = responseInFlight(socket);
      if (!answer || this.#awaited.has(answer)) continue;
      this.#awaited.add(answer);
      if (answer.shouldKeepAlive) answer.once("finish", () => (this.#idleSinceMs = performance.now()));
    }
  }

  #isQuiet(socket: Socket): boolean {
    const { bytesRead } = socket;
    const nowMs = performance.now();
    let quiet = this.#quiet.get(socket);
    if (quiet?.bytesRead !== bytesRead) this.#quiet.set(socket, (quiet = { bytesRead, sinceMs: nowMs }));
    return bytesRead === 0 || nowMs - quiet.sinceMs >= quietTimeoutMs;
  }
}

/**
 * Returns the response in progress on a connection. Node.js stores the response in the field `_httpMessage` and has no public API for it.
 */
export function responseInFlight(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer ?? undefined;
}

/** Addresses or inherited sockets on which the server listens. Inherited sockets have priority over addresses. */
export interface ListenTarget {
  /**
   * Addresses of the server. The first address must be available. If another program uses a further address or the machine does not have
   * it, the daemon skips this address.
   */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly listenFds: readonly number[];
}

/** A server that listens on one or several sockets. */
export interface Listening {
  /** Origin of the first socket, such as `http://127.0.0.1:8000` or `unix:/run/runtimed.sock`. */
  readonly origin: string;
  /** Further addresses on which another program already listens, such as `[::1]:8000`. */
  readonly takenAddresses: readonly string[];
  /** Stops accepting connections. Resolves when the last connection is closed. */
  stopAccepting(): Promise<void>;
}

/** Starts to listen on all addresses or inherited sockets. Rejects with Node's error if the first address fails. */
export async function listen(server: Server, { hosts: [host, ...furtherHosts], port, listenFds }: ListenTarget): Promise<Listening> {
  const [fd, ...furtherFds] = listenFds;
  await begin(server, fd === undefined ? { host, port } : { fd });
  const listeners: NetServer[] = [server];
  const takenAddresses: string[] = [];
  for (const further of furtherFds) {
    const listener = createFurtherListener(server);
    await begin(listener, { fd: further });
    listeners.push(listener);
  }
  // Uses the port of the first address for all addresses, because the operating system chooses the port if the configured port is 0.
  const address = server.address();
  if (fd === undefined && address !== null && typeof address !== "string") {
    for (const further of furtherHosts) {
      const listener = createFurtherListener(server);
      const code = await begin(listener, { host: further, port: address.port }).catch((error: NodeJS.ErrnoException) => error.code);
      if (typeof code !== "string") listeners.push(listener);
      else if (code === "EADDRINUSE") takenAddresses.push(hostWithPort({ ...address, address: further }));
    }
  }
  return { origin: originOf(server), takenAddresses, stopAccepting: async () => void (await Promise.all(listeners.map(end))) };
}

/** Creates a listener for a further address. The listener passes its connections to the HTTP server. */
function createFurtherListener(server: Server): NetServer {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
}

function begin(listener: NetServer, target: { host: string | undefined; port: number } | { fd: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(target, () => {
      listener.off("error", reject);
      resolve();
    });
  });
}

/**
 * Stops accepting connections. Does not call `close()` of node:http, because this function also closes connections with unsent bytes of an
 * ended response.
 */
function end(listener: NetServer): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(listener, () => resolve()));
}

function originOf(server: Server): string {
  const address = server.address() as AddressInfo | string;
  return typeof address === "string" ? `unix:${address}` : `http://${hostWithPort(address)}`;
}

function hostWithPort({ address, port }: AddressInfo): string {
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
}

/**
 * Emits "timeout" if a connection transfers nothing for `timeoutMs`. A periodic check emits the event at most `timeoutMs / 6` late. Node's
 * `server.timeout` is slower, because it restarts a timer at each request, read and write.
 */
export function watchStalledClients(server: Server, timeoutMs: number): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // Stops the periodic check for an upgraded connection, because the code that accepted the upgrade sets its own time limit.
  server.on("upgrade", (_request: IncomingMessage, duplex: Duplex) => {
    const socket = duplex as Socket;
    sockets.delete(socket);
    socket.setTimeout(timeoutMs);
  });
  let timer: NodeJS.Timeout | undefined;
  server.on("listening", () => {
    timer = setInterval(() => {
      for (const socket of sockets) if (!socket.timeout) socket.setTimeout(timeoutMs);
    }, timeoutMs / checksPerTimeout).unref();
  });
  server.on("close", () => clearInterval(timer));
}
