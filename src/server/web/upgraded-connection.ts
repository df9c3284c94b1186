import type { Socket } from "node:net";

/** A client's connection that waits for the response to its WebSocket handshake. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** Returns the bytes that the client sent after its request; the caller must read from the socket afterwards. */
  readonly takeHead: () => Buffer;
}
