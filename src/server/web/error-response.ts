import type { ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";

/** Of the daemon, and of the machine. */
const outOfDescriptorsCodes = new Set<unknown>(["EMFILE", "ENFILE"]);

/** The error as the client may see it: anything without a code is INTERNAL_ERROR, its cause stays in the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && "code" in error && outOfDescriptorsCodes.has(error.code))
    return new ApiError("TOO_MANY_OPEN_FILES", "The daemon may open no more files or connections; try again when some clients have left.", {
      cause: error,
      retryAfterSeconds: 1,
    });
  return new ApiError("INTERNAL_ERROR", "The daemon failed to handle the request; its log has the reason under the request id.", {
    cause: error,
  });
}

/** Headers that go with an error body. */
export function errorHeaders(error: ApiError): Record<string, string> {
  return {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(error.code === "UPGRADE_REQUIRED" ? { upgrade: "websocket", "sec-websocket-version": "13" } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) }),
  };
}

/** Sends the one error shape outside of Koa; an answer that has begun is cut, never completed with something else. */
export function sendError(response: ServerResponse, cause: unknown, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const error = toApiError(cause);
  const body = JSON.stringify(error.toBody());
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(error.status, { ...errorHeaders(error), "content-length": Buffer.byteLength(body), "x-request-id": requestId });
  response.end(response.req.method === "HEAD" ? undefined : body);
}
