import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { discardBody, hasBody } from "../web/request-body.js";

/**
 * Time in ms for which the daemon receives the rest of a request body after it has rejected the request. After this time, the daemon closes
 * the connection.
 */
export const leftoverBodyTimeoutMs = 2_000;
/**
 * Time in ms for which the daemon receives the rest of a request body after the worker's response. A worker can respond before the body
 * ends. The limit closes the connections of stalled clients.
 */
const workerBodyTimeoutMs = 30_000;

/** Throws UNSUPPORTED_MEDIA_TYPE if the body is compressed, because the size of the decompressed body is unknown. */
export function assertPlainEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not supported. Send the body without Content-Encoding.");
}

/** Returns the media type and charset from `Content-Type`, in lower case. `charset` is undefined if the header contains none. */
export function mediaTypeOf(request: IncomingMessage): { type: string; charset: string | undefined } {
  const header = request.headers["content-type"] ?? "";
  const charset = /;\s*charset="?([^";\s]+)"?/i.exec(header)?.[1]?.toLowerCase();
  return { type: (header.split(";")[0] ?? "").trim().toLowerCase(), charset };
}

/** Sends 100 Continue to a client that requests it with the header `Expect: 100-continue`. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (awaitsContinue(request)) response.writeContinue();
}

/**
 * Lets a client read the response to an incomplete request. Discards the rest of the body, and closes the connection if the body does not
 * end within 2 s. Must be called before the response is written.
 */
export function discardLeftoverBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed || !hasBody(request)) return;
  if (awaitsContinue(request)) {
    // Closes the connection of a client that sent `Expect: 100-continue`. After an error response, such a client can omit the body, so the
    // daemon cannot detect where the next request begins.
    response.setHeader("connection", "close");
    return;
  }
  const isLastRequest = !response.shouldKeepAlive;
  // Prevents Node.js from closing the connection directly after the response. Bytes that arrive on a closed connection cause a reset, and
  // the client would lose the response.
  response.shouldKeepAlive = true;
  discardBody(request);
  response.once("finish", () => awaitEnd(request, { isLastRequest, timeoutMs: leftoverBodyTimeoutMs }));
}

/**
 * After the worker's response, keeps the connection open until the request body ends, for at most 30 s. Must be called when the request
 * arrives.
 */
export function keepOpenForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  const isLastRequest = !response.shouldKeepAlive;
  // Prevents Node.js from closing the connection while bytes of the body still arrive.
  response.shouldKeepAlive = true;
  // Adds this listener before the other listeners, because it must run before the `finish` listener of Node.js.
  response.prependOnceListener("finish", () => {
    if (!request.complete) discardBody(request);
    awaitEnd(request, { isLastRequest, timeoutMs: workerBodyTimeoutMs });
  });
}

/**
 * Waits for the end of the request body after the response. Then closes the connection if `isLastRequest` is true. Destroys the connection
 * if the body does not end within `timeoutMs`.
 */
function awaitEnd(request: IncomingMessage, { isLastRequest, timeoutMs }: { isLastRequest: boolean; timeoutMs: number }): void {
  const { socket } = request;
  if (request.complete) {
    if (isLastRequest) socket.end();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const stopWaiting = (): void => clearTimeout(timer);
  socket.once("close", stopWaiting);
  request.once("end", () => {
    stopWaiting();
    socket.off("close", stopWaiting);
    if (isLastRequest) socket.end();
  });
}

function awaitsContinue(request: IncomingMessage): boolean {
  return request.httpVersion === "1.1" && request.headers.expect?.toLowerCase() === "100-continue";
}
