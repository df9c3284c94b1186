import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { discardBody, hasBody } from "../web/request-body.js";

/** How long a client that was refused may go on sending before its connection is cut. */
export const leftoverBodyTimeoutMs = 2_000;
/** The same after the answer of a worker: apps may well answer before they have the whole body. */
const outlastedBodyTimeoutMs = 30_000;

/** Refuses compressed bodies: nothing is inflated before its size is known. */
export function assertPlainEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not supported. Send the body without Content-Encoding.");
}

/** The media type in lower case, and its charset when it names one. */
export function mediaTypeOf(request: IncomingMessage): { type: string; charset: string | undefined } {
  const header = request.headers["content-type"] ?? "";
  const charset = /;\s*charset="?([^";\s]+)"?/i.exec(header)?.[1]?.toLowerCase();
  return { type: (header.split(";")[0] ?? "").trim().toLowerCase(), charset };
}

/** Tells a client that waits with `Expect: 100-continue` to send its body. */
export function inviteBody(request: IncomingMessage, response: ServerResponse): void {
  if (awaitsInvitation(request)) response.writeContinue();
}

/**
 * Lets a client that is answered before its body has ended read the answer: what it still sends is thrown away for a
 * while, then the connection is cut. Call before the answer is written.
 */
export function discardLeftoverBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || request.destroyed || !hasBody(request)) return;
  if (awaitsInvitation(request)) {
    // It was told not to send its body, so nothing says where its next request would begin.
    response.setHeader("connection", "close");
    return;
  }
  const isLastRequest = !response.shouldKeepAlive;
  // Node closes a connection that is not kept right after the answer; bytes still on their way would then reset it, answer included.
  response.shouldKeepAlive = true;
  discardBody(request);
  response.once("finish", () => awaitEnd(request, { isLastRequest, timeoutMs: leftoverBodyTimeoutMs }));
}

/**
 * The same for answers that others write: keeps the connection after an early answer until the body has ended, or for a while. Call
 * when the request arrives.
 */
export function outlastBody(request: IncomingMessage, response: ServerResponse): void {
  if (!hasBody(request)) return;
  const isLastRequest = !response.shouldKeepAlive;
  // As above: Node would close the connection under the bytes that are still on their way.
  response.shouldKeepAlive = true;
  // Before Node's own listener.
  response.prependOnceListener("finish", () => {
    if (!request.complete) discardBody(request);
    awaitEnd(request, { isLastRequest, timeoutMs: outlastedBodyTimeoutMs });
  });
}

/** After the answer: the connection goes with the body's end when it was to be the last, or is cut when that does not come in time. */
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

function awaitsInvitation(request: IncomingMessage): boolean {
  return request.httpVersion === "1.1" && request.headers.expect?.toLowerCase() === "100-continue";
}
