import { ServerResponse, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../../shared/api-error.js";
import { answerError } from "../answer-error.js";
import { hasBody } from "../web/has-body.js";
import type { UpgradedConnection } from "../web/upgraded-connection.js";
import { answerInFlight } from "./connections.js";
import { requestIdOf } from "./request-id.js";

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

export interface UpgradeOptions {
  /** Whether this request may become a web socket. */
  readonly isTaken: (request: IncomingMessage) => boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse, connection: UpgradedConnection) => void;
  readonly stalledClientTimeoutMs: number;
}

/** How long a client that was refused may take to close its connection. */
const lingerTimeoutMs = 2000;
/** What a client may send before it has the answer to its handshake; it should send nothing. */
const earlyBytes = 64 * 1024;
/** Headers about the connection that a request loses with its wish for another protocol. */
const droppedNames = new Set(["upgrade", "connection", "http2-settings"]);

/**
 * Takes handshakes of WebSocket from a server. Other upgrades (`h2c`, unknown ones, those of the API) are wishes that a server may
 * ignore: they are answered as if they had not been uttered, which without an "upgrade" listener Node would do itself.
 */
export function takeUpgrades(server: Server, options: UpgradeOptions): void {
  server.on("upgrade", (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    const socket = duplex as Socket;
    // Node has taken its own listener away.
    socket.on("error", () => undefined);
    afterAnswers(socket, () => {
      if (isHandshake(request) && options.isTaken(request)) answerHandshake(server, options, { request, socket, head });
      else answerAsPlain(server, { request, socket, head });
    });
  });
}

function isHandshake(request: IncomingMessage): boolean {
  return request.method === "GET" && request.httpVersion === "1.1" && request.headers.upgrade?.toLowerCase() === "websocket";
}

/** Waits for the answers to requests that the client sent before this one on the same connection. */
function afterAnswers(socket: Socket, proceed: () => void): void {
  const earlier = answerInFlight(socket);
  if (!earlier) {
    if (!socket.destroyed && socket.writable) proceed();
    return;
  }
  const onDrain = (): void => void earlier.emit("drain");
  socket.on("drain", onDrain);
  earlier.once("close", () => {
    socket.removeListener("drain", onDrain);
    afterAnswers(socket, proceed);
  });
}

function answerHandshake(server: Server, { handle, stalledClientTimeoutMs }: UpgradeOptions, { request, socket, head }: Upgrade): void {
  const response = createLastResponse(request, socket);
  socket.setTimeout(stalledClientTimeoutMs);
  if (socket.listenerCount("timeout") === 0) socket.on("timeout", () => server.emit("timeout", socket));
  if (hasBody(request)) {
    answerError(response, new ApiError("INVALID_REQUEST", "A WebSocket handshake has no body."), requestIdOf(request));
    return;
  }
  handle(request, response, { socket, takeHead: readEarly(socket, head) });
}

/** Reads on while the answer is made: only so a client that goes away is noticed. */
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

/** An answer on a connection that Node's HTTP server cares for no more; the last one there. */
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
    // Reading on: bytes that nobody takes would turn the end into a reset, and the answer would be lost.
    socket.resume();
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerTimeoutMs);
    socket.once("close", () => clearTimeout(timer));
  });
  return response;
}

/** Gives the request back to the server without its wish, body and all that follows included. */
function answerAsPlain(server: Server, { request, socket, head }: Upgrade): void {
  // The last request of its connection: Node leaves listeners behind each time that a connection is given to it.
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`, "Connection: close"];
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!droppedNames.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
