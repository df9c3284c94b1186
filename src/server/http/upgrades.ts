import { ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import { hasBody } from "../web/request-body.js";
import type { UpgradedConnection } from "../web/upgraded-connection.js";
import { responseInFlight } from "./connections.js";
import { requestIdOf } from "./request-id.js";

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

export interface UpgradeOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse, connection: UpgradedConnection) => void;
  readonly stalledClientTimeoutMs: number;
}

/** Time in ms that a rejected client has to close the connection. After this time, the daemon closes the connection. */
const lingerTimeoutMs = 2000;
/**
 * Maximum number of bytes from the client that the daemon stores before it responds to a handshake. A correct client sends no bytes before
 * the response.
 */
const earlyBytes = 64 * 1024;
/**
 * Handles the WebSocket handshakes of a server. The option `shouldUpgradeCallback` makes Node.js handle all other upgrade requests as plain
 * requests.
 */
export function takeUpgrades(server: Server, options: UpgradeOptions): void {
  server.on("upgrade", (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket;
    // Replaces the error listener that Node.js has removed. An error event without a listener would end the process.
    socket.on("error", () => undefined);
    afterResponses(socket, () => sendHandshake(server, options, { request, socket, head }));
  });
}

/**
 * Returns true if a request is a WebSocket handshake. A server is allowed to ignore upgrades to other protocols (RFC 9110, section 7.8).
 */
export function isHandshake(request: IncomingMessage): boolean {
  return request.method === "GET" && request.httpVersion === "1.1" && request.headers.upgrade?.toLowerCase() === "websocket";
}

/** Calls `proceed` when the daemon has sent the responses to all earlier requests on the connection. */
function afterResponses(socket: Socket, proceed: () => void): void {
  const earlier = responseInFlight(socket);
  if (!earlier) {
    if (!socket.destroyed && socket.writable) proceed();
    return;
  }
  const onDrain = (): void => void earlier.emit("drain");
  socket.on("drain", onDrain);
  earlier.once("close", () => {
    socket.removeListener("drain", onDrain);
    afterResponses(socket, proceed);
  });
}

function sendHandshake(server: Server, { handle, stalledClientTimeoutMs }: UpgradeOptions, { request, socket, head }: Upgrade): void {
  const response = createLastResponse(request, socket);
  socket.setTimeout(stalledClientTimeoutMs);
  if (socket.listenerCount("timeout") === 0) socket.on("timeout", () => server.emit("timeout", socket));
  if (!isHandshake(request)) {
    // Before version 24.9, Node.js has no `shouldUpgradeCallback`, so other upgrade requests reach this line.
    sendError(
      response,
      new ApiError("INVALID_REQUEST", "The request has an unsupported Upgrade header. Only websocket is supported."),
      requestIdOf(request),
    );
    return;
  }
  if (hasBody(request)) {
    sendError(response, new ApiError("INVALID_REQUEST", "A WebSocket handshake must not have a body."), requestIdOf(request));
    return;
  }
  handle(request, response, { socket, takeHead: readEarly(socket, head) });
}

/**
 * Reads from the socket while the daemon prepares the response. Without reading, the daemon would not detect that the client disconnects.
 * Returns a function that stops the reading and returns the received bytes.
 */
function readEarly(socket: Socket, head: Buffer): () => Buffer {
  const chunks = [head];
  let length = head.length;
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > earlyBytes) socket.destroy();
  };
  const onEnd = (): void => void socket.destroy();
  socket.on("data", onData);
  socket.once("end", onEnd);
  return () => {
    socket.pause();
    socket.removeListener("data", onData);
    socket.removeListener("end", onEnd);
    return Buffer.concat(chunks);
  };
}

/** Creates the last response on a connection that the HTTP server of Node.js no longer handles. */
function createLastResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  Object.defineProperty(response, "writableNeedDrain", { get: () => socket.writableNeedDrain });
  const onDrain = (): void => void response.emit("drain");
  socket.on("drain", onDrain);
  response.once("finish", () => {
    socket.removeListener("drain", onDrain);
    response.detachSocket(socket);
    socket.removeAllListeners("data");
    // Continues to read from the socket. Unread bytes would cause a reset of the connection, and the client would lose the response.
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerTimeoutMs);
    socket.once("close", () => clearTimeout(timer));
  });
  return response;
}
