import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { discardBody, hasBody } from "../web/request-body.js";

/** Time limit for a rejected client to send the remaining body, after which the daemon closes the connection. */
export const leftoverBodyTimeoutMs = 2_000;
/**
 * Time limit for a client to complete its body after a worker's response, which can precede the end of the body. The limit frees
 * connections of stalled clients.
 */
const workerBodyTimeoutMs = 30_000;

/** Throws UNSUPPORTED_MEDIA_TYPE for a compressed body, because its decompressed size is unknown. */
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

/** Sends 100 Continue to a client that waits with `Expect: 100-continue`. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (awaitsContinue(request)) response.writeContinue();
}

/**
 * Lets a client read a response that is sent before the request body has ended. Discards the remaining body, and closes the connection if
 * the body has not ended after 2 s. Call it before the response is written.
 */
export function discardLeftoverBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed || !hasBody(request)) return;
  if (awaitsContinue(request)) {
    // Closes the connection of a client with `Expect: 100-continue`. It sends no body after an error, so the daemon cannot know where the
    // next request begins.
    response.setHeader("connection", "close");
    return;
  }
  const isLastRequest = !response.shouldKeepAlive;
  // Prevents Node.js from closing the connection immediately after the response. Otherwise later bytes would reset the connection, and the
  // client would lose the response.
  response.shouldKeepAlive = true;
  discardBody(request);
  response.once("finish", () => awaitEnd(request, { isLastRequest, timeoutMs: leftoverBodyTimeoutMs }));
}

/** Keeps the connection open after a worker's response until the request body has ended, at most 30 s. Call it when the request arrives. */
export function keepOpenForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  const isLastRequest = !response.shouldKeepAlive;
  // Sets `shouldKeepAlive`, because Node.js would otherwise close the connection while bytes of the body still arrive.
  response.shouldKeepAlive = true;
  // Adds this listener first, because it must run before the `finish` listener of Node.js.
  response.prependOnceListener("finish", () => {
    if (!request.complete) discardBody(request);
    awaitEnd(request, { isLastRequest, timeoutMs: workerBodyTimeoutMs });
  });
}

/**
 * Waits for the end of the request body after the response. Then closes the connection if this was its last request. Destroys the
 * connection after `timeoutMs`.
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
