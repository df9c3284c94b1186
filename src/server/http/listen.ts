import type { Server } from "node:http";
import { createServer, Server as NetServer, type AddressInfo } from "node:net";

/** Where to listen: sockets that were handed over win over host and port. */
export interface ListenTarget {
  readonly host: string;
  readonly port: number;
  readonly listenFds: readonly number[];
}

/** A server that listens, on one socket or on several. */
export interface Listening {
  /** Of the first socket, such as `http://127.0.0.1:8000` or `unix:/run/runtimed.sock`. */
  readonly origin: string;
  /** Takes no new connections; resolves when the last one has ended. */
  stopAccepting(): Promise<void>;
}

/** Has the server take connections; rejects with what Node says when it cannot. */
export async function listen(server: Server, { host, port, listenFds: [first, ...others] }: ListenTarget): Promise<Listening> {
  await begin(server, first === undefined ? { host, port } : { fd: first });
  const listeners: NetServer[] = [server];
  for (const fd of others) {
    // As the server of node:http has its own connections.
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
    await begin(listener, { fd });
    listeners.push(listener);
  }
  return { origin: originOf(server), stopAccepting: async () => void (await Promise.all(listeners.map(end))) };
}

function begin(listener: NetServer, target: { host: string; port: number } | { fd: number }): Promise<void> {
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
  if (typeof address === "string") return `unix:${address}`;
  return `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
}
