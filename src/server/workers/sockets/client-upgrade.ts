import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { WebSocketServer, type ServerOptions, type WebSocket } from "ws";
import { ApiError } from "../../../shared/api-error.js";
import type { UpgradedConnection } from "../../web/upgraded-connection.js";
import type { ResponseHead } from "../engine/response-head.js";
import { closeTimeoutMs, maximumFragments, maximumMessageBytes } from "./socket-limits.js";

const keyPattern = /^[+/0-9A-Za-z]{22}==$/;
const protocolPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const protocolHeader = "sec-websocket-protocol";

export interface OpenedSocket {
  readonly socket: Socket;
  readonly webSocket: WebSocket;
}

/**
 * A WebSocket handshake of a client. If the worker responds with 101, the daemon accepts the handshake. Otherwise the daemon sends the
 * worker's response as usual.
 */
export class ClientUpgrade {
  /** Registry of the open WebSockets. Contains the client's WebSocket while it is open. */
  readonly openSockets: OpenSockets;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: UpgradedConnection;

  constructor(options: { request: IncomingMessage; response: ServerResponse; connection: UpgradedConnection; openSockets: OpenSockets }) {
    this.openSockets = options.openSockets;
    this.#request = options.request;
    this.#response = options.response;
    this.#connection = options.connection;
  }

  /** Returns the error of an invalid handshake. Returns undefined for a valid one. */
  static problemOf({ headers }: IncomingMessage): ApiError | undefined {
    if (headers["sec-websocket-version"] !== "13")
      return new ApiError("UPGRADE_REQUIRED", "The server supports only version 13 of WebSocket. Send Sec-WebSocket-Version: 13.");
    if (!keyPattern.test(headers["sec-websocket-key"] ?? "")) return invalid("has no valid Sec-WebSocket-Key");
    const protocols = headers[protocolHeader]?.split(",").map((name) => name.trim()) ?? [];
    const isSound = protocols.every((name) => protocolPattern.test(name)) && new Set(protocols).size === protocols.length;
    return isSound ? undefined : invalid("has an invalid Sec-WebSocket-Protocol: list each name once, separated by commas");
  }

  /** Sends the 101 response with the worker's headers and returns the open WebSocket. Returns undefined if the client has disconnected. */
  accept(head: ResponseHead, requestId: string): OpenedSocket | undefined {
    const { socket, takeHead } = this.#connection;
    if (socket.destroyed) return undefined;
    this.#response.detachSocket(socket);
    const options: ServerOptions & { maxFragments: number; closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maximumMessageBytes,
      maxFragments: maximumFragments,
      closeTimeout: closeTimeoutMs,
      // Omits a protocol that the client has not offered, because the client would reject the connection.
      handleProtocols: (offered) => {
        const chosen = valueOf(head, protocolHeader);
        return chosen !== undefined && offered.has(chosen) ? chosen : false;
      },
    };
    const server = new WebSocketServer(options);
    server.on("headers", (lines) => lines.push(...extraLines(head), `X-Request-Id: ${requestId}`));
    let webSocket: WebSocket | undefined;
    server.handleUpgrade(this.#request, socket, takeHead(), (opened) => (webSocket = opened));
    // Resumes the socket, which was already paused when the library `ws` received it.
    webSocket?.resume();
    return webSocket && { socket, webSocket };
  }
}

/** Returns the header lines of the worker's response that the library `ws` does not write. */
function extraLines({ pairs }: ResponseHead): string[] {
  const lines: string[] = [];
  for (let index = 0; index < pairs.length; index += 2) {
    const name = pairs[index] as string;
    if (!name.toLowerCase().startsWith("sec-websocket-")) lines.push(`${name}: ${pairs[index + 1]}`);
  }
  return lines;
}

function valueOf({ pairs }: ResponseHead, name: string): string | undefined {
  const index = pairs.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
  return index === -1 ? undefined : pairs[index + 1];
}

function invalid(what: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The WebSocket handshake ${what}.`);
}

/** An open WebSocket that the registry can close. */
interface Leaver {
  leave(code: number, reason: string): void;
}

/** Registry of all open WebSockets. The daemon closes these WebSockets when it stops. */
export class OpenSockets {
  readonly #sockets = new Set<Leaver>();
  #farewell: { code: number; reason: string } | undefined;

  /** Registers a WebSocket. After `closeAll`, closes the WebSocket immediately. */
  add(socket: Leaver): void {
    this.#sockets.add(socket);
    if (this.#farewell) socket.leave(this.#farewell.code, this.#farewell.reason);
  }

  delete(socket: Leaver): void {
    this.#sockets.delete(socket);
  }

  closeAll(code: number, reason: string): void {
    this.#farewell = { code, reason };
    for (const socket of this.#sockets) socket.leave(code, reason);
  }
}
