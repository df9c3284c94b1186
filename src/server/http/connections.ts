import type { Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How soon a connection is closed after its last answer while the server drains. */
const sweepIntervalMs = 50;

/** A server's open connections, so that it can stop without cutting an answer short. */
export class Connections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isDraining = false;

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.prependListener("request", (_request, response) => {
      if (this.#isDraining) response.shouldKeepAlive = false;
    });
  }

  /** Takes no new connections, closes idle ones, and the others once they are answered; cuts what is left after the timeout. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true;
    const timer = setTimeout(() => this.#server.closeAllConnections(), timeoutMs);
    const sweeper = setInterval(() => this.#closeIdle(), sweepIntervalMs);
    // The close() of node:http also closes connections whose answers have ended but not left yet.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    this.#closeIdle();
    await closed;
    clearTimeout(timer);
    clearInterval(sweeper);
  }

  #closeIdle(): void {
    for (const socket of this.#sockets) if (answerInFlight(socket)?.writableEnded) return;
    this.#server.closeIdleConnections();
  }
}

/** The answer that a connection is busy with. Node itself finds it in this field, and gives it no public name. */
export function answerInFlight(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null };
  return answer ?? undefined;
}
