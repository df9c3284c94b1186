import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";

/** How long a client that was refused may go on sending before its connection is cut. */
const leftoverBodyTimeoutMs = 2_000;

export function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
}

/** Refuses compressed bodies: nothing is inflated before its size is known. */
export function assertPlainEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not taken; send it without Content-Encoding.");
}

/** The media type in lower case, and its charset when it names one. */
export function mediaTypeOf(request: IncomingMessage): { type: string; charset: string | undefined } {
  const header = request.headers["content-type"] ?? "";
  const charset = /;\s*charset="?([^";\s]+)"?/i.exec(header)?.[1]?.toLowerCase();
  return { type: (header.split(";")[0] ?? "").trim().toLowerCase(), charset };
}

/** Tells a client that waits with `Expect: 100-continue` to send its body. */
export function inviteBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue();
}

/**
 * Lets a client that is answered before its body has ended read the answer: what it still sends is thrown away for a
 * while, then the connection is cut. Call before the answer is written.
 */
export function discardLeftoverBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete || !hasBody(request)) return;
  response.setHeader("connection", "close");
  request.resume();
  response.once("finish", () => {
    const timer = setTimeout(() => request.socket.destroy(), leftoverBodyTimeoutMs);
    request.once("close", () => clearTimeout(timer));
  });
}
