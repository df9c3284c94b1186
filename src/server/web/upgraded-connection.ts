import type { Socket } from "node:net";

/** A client's connection that has left HTTP and waits for the answer to its handshake. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** Gives what the client sent behind its request so far; who calls it reads from the socket from then on. */
  readonly takeHead: () => Buffer;
}
