import type { ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";

/** Error codes of Node.js when the process or the system has no free file descriptor. */
const outOfDescriptorsCodes = new Set<unknown>(["EMFILE", "ENFILE"]);

/**
 * Converts an error to an ApiError for the client. An error without a known code becomes INTERNAL_ERROR. Only the log then contains its
 * cause.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && "code" in error && outOfDescriptorsCodes.has(error.code))
    return new ApiError("TOO_MANY_OPEN_FILES", "The daemon has reached its limit of open files and connections. Retry after 1 second.", {
      cause: error,
      retryAfterSeconds: 1,
    });
  return new ApiError(
    "INTERNAL_ERROR",
    "The daemon failed to handle the request. The daemon's log contains the reason under the request id.",
    {
      cause: error,
    },
  );
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

/**
 * Sends an error response without Koa. If the headers of another response are already sent, closes the connection. Otherwise the client
 * would read the error as part of that response.
 */
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
