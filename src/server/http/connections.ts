import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer, isIPv6, Server as NetServer, type Socket, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** How soon a connection is closed after its last answer while the server drains. */
const sweepIntervalMs = 50;
/** A connection that waits for no answer and sent nothing for so long is idle, even in the midst of a head. */
const quietTimeoutMs = 2000;

/** How many times within the timeout connections are looked at. */
const looksPerTimeout = 6;

interface DrainOptions {
  readonly timeoutMs: number;
  readonly idleGraceMs: number;
  readonly stopAccepting: () => Promise<void>;
}

/** A server's open connections, so that it can stop without cutting an answer short. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** They have left HTTP; whoever took them ends them. */
  readonly #upgraded = new WeakSet<Duplex>();
  readonly #quiet = new WeakMap<Socket, { readonly bytesRead: number; readonly sinceMs: number }>();
  /** Answers in flight whose ends are waited for while the server drains. */
  readonly #awaited = new WeakSet<ServerResponse>();
  /** When the drain began, or the last answer ended since that left its connection open. */
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

  /**
   * Answers what still comes as the last of its connection, closes connections that are idle, and cuts what is left after the timeout.
   * `stopAccepting` resolves when no connection is left. A client may be about to send its next request, or the first on a connection
   * that it has just opened: none is closed as idle before `idleGraceMs`.
   */
  async drain({ timeoutMs, idleGraceMs, stopAccepting }: DrainOptions): Promise<void> {
    this.#idleSinceMs = performance.now();
    this.#server.prependListener("request", (_request, response) => (response.shouldKeepAlive = false));
    const timer = setTimeout(() => this.#destroyAll(), timeoutMs);
    // After the sockets were read: what has come by now is not idle any more.
    const sweeper = setInterval(() => setImmediate(() => this.#closeIdle(idleGraceMs)), sweepIntervalMs);
    this.#awaitResponses();
    await stopAccepting();
    clearTimeout(timer);
    clearInterval(sweeper);
  }

  /** Upgraded connections too, which the server does not count as its own. */
  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #closeIdle(idleGraceMs: number): void {
    this.#awaitResponses();
    if (performance.now() - this.#idleSinceMs < idleGraceMs) return;
    const sockets = [...this.#sockets];
    // It would also close those whose answers have ended and not left yet.
    if (!sockets.some((socket) => responseInFlight(socket)?.writableEnded)) this.#server.closeIdleConnections();
    // Nor does it know those that never sent anything, and it must not be held up by one client that does not read.
    for (const socket of sockets) if (!responseInFlight(socket) && !this.#upgraded.has(socket) && this.#isQuiet(socket)) socket.destroy();
  }

  /** A client that is told nothing of the end may send its next request at once. */
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

/** The answer that a connection is busy with. Node itself finds it in this field, and gives it no public name. */
export function responseInFlight(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer ?? undefined;
}

/** Where to listen: sockets that were handed over win over host and port. */
export interface ListenTarget {
  /** The first one has to be free; a further one may be taken, or missing on this machine. */
  readonly hosts: readonly string[];
  readonly port: number;
  readonly listenFds: readonly number[];
}

/** A server that listens, on one socket or on several. */
export interface Listening {
  /** Of the first socket, such as `http://127.0.0.1:8000` or `unix:/run/runtimed.sock`. */
  readonly origin: string;
  /** Those of the further addresses that another program has, such as `[::1]:8000`. */
  readonly takenAddresses: readonly string[];
  /** Takes no new connections; resolves when the last one has ended. */
  stopAccepting(): Promise<void>;
}

/** Has the server take connections; rejects with what Node says when it cannot. */
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
  // On the port that the first one got, which may have been any.
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

/** Hands its connections to the server, as the server of node:http has its own. */
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

/** The close() of node:http also closes connections whose answers have ended but not left yet. */
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
 * Has the server emit "timeout" for a connection that is silent for `timeoutMs`, a sixth more at most. `server.timeout` says the same, at
 * the price of a timer set again for every request and moved by every read and write; nearly all are answered long before. Here only a
 * connection that a look finds without a timer gets one, and Node takes it back when the next answer has ended.
 */
export function watchStalledClients(server: Server, timeoutMs: number): void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  // Whoever takes it sets its time from here on.
  server.on("upgrade", (_request: IncomingMessage, duplex: Duplex) => {
    const socket = duplex as Socket;
    sockets.delete(socket);
    socket.setTimeout(timeoutMs);
  });
  let timer: NodeJS.Timeout | undefined;
  server.on("listening", () => {
    timer = setInterval(() => {
      for (const socket of sockets) if (!socket.timeout) socket.setTimeout(timeoutMs);
    }, timeoutMs / looksPerTimeout).unref();
  });
  server.on("close", () => clearInterval(timer));
}
