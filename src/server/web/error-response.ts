import type { ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";

/** Error codes for the file descriptor limits of the process and of the system. */
const outOfDescriptorsCodes = new Set<unknown>(["EMFILE", "ENFILE"]);

/** Converts an error for the client: errors without a code become INTERNAL_ERROR, and their cause is only logged. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && "code" in error && outOfDescriptorsCodes.has(error.code))
    return new ApiError("TOO_MANY_OPEN_FILES", "The daemon has reached its limit of open files and connections. Retry after 1 second.", {
      cause: error,
      retryAfterSeconds: 1,
    });
  return new ApiError("INTERNAL_ERROR", "The daemon failed to handle the request. The daemon's log has the reason under the request id.", {
    cause: error,
  });
}

/** Returns the headers of an error response. */
export function errorHeaders(error: ApiError): Record<string, string> {
  return {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(error.code === "UPGRADE_REQUIRED" ? { upgrade: "websocket", "sec-websocket-version": "13" } : {}),
    ...(error.retryAfterSeconds === undefined ? {} : { "retry-after": String(error.retryAfterSeconds) }),
    ...(error.allow === undefined ? {} : { allow: error.allow }),
  };
}

/** Sends an error response without Koa. A response that has begun is cut off, because its body must not continue with the error. */
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
