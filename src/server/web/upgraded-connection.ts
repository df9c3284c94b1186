import type { Socket } from "node:net";

/** Connection of a client that waits for the response to its WebSocket handshake. */
export interface UpgradedConnection {
  readonly socket: Socket;
  /** Returns the bytes that the client sent after its request. Call it before you read from the socket. */
  readonly takeHead: () => Buffer;
}
