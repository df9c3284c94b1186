import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";

export interface ForwardProxy {
  readonly url: string;
  /** Requested targets, such as `127.0.0.1:443`. */
  readonly targets: readonly string[];
  /** `Proxy-Authorization` of each request. */
  readonly authorizations: readonly (string | undefined)[];
  /** All bytes that passed the proxy in both directions. */
  readonly seen: () => Buffer;
  readonly close: () => void;
}

/** Starts an HTTP proxy that opens tunnels. If `status` is given, the proxy rejects all tunnels with this status. */
export async function startForwardProxy(status?: number): Promise<ForwardProxy> {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const pieces: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(400).end());
  server.on("connect", ({ url = "", headers }, socket: Socket, head: Buffer) => {
    targets.push(url);
    authorizations.push(headers["proxy-authorization"]);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const side of [socket, onward]) {
      sockets.add(side);
      side.on("data", (piece: Buffer) => pieces.push(piece));
      side.on("error", () => {
        socket.destroy();
        onward.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    authorizations,
    seen: () => Buffer.concat(pieces),
    close: () => {
      server.close().closeAllConnections();
      for (const socket of sockets) socket.destroy();
    },
  };
}
