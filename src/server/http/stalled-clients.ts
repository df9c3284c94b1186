import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** How many times within the timeout connections are looked at. */
const looksPerTimeout = 6;

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
