import type { Server } from "node:http";
import { createServer, isIPv6, Server as NetServer, type AddressInfo } from "node:net";

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
