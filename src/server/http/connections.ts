import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How soon a connection is closed after its last answer while the server drains. */
const sweepIntervalMs = 50;
/** A connection that waits for no answer and sent nothing for so long is idle, even in the midst of a head. */
const quietTimeoutMs = 2000;

export interface DrainOptions {
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
