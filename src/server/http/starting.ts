import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { sendError } from "../web/error-response.js";
import { packageVersion } from "../package-root.js";
import { requestIdOf } from "./request-id.js";

const retryAfterSeconds = 1;

/** Responds to requests while the daemon still opens its services. The liveness check succeeds. All other requests fail with NOT_READY. */
export function respondWhileStarting(
  apiBase: string,
  request: IncomingMessage,
  response: ServerResponse,
  requestId = requestIdOf(request),
): void {
  if ((request.method !== "GET" && request.method !== "HEAD") || request.url !== `${apiBase}/health/live`) {
    sendError(response, new ApiError("NOT_READY", "The daemon is starting. Retry after 1 second.", { retryAfterSeconds }), requestId);
    return;
  }
  response.writeHead(200, { "content-type": "application/json; charset=utf-8", "x-request-id": requestId });
  response.end(JSON.stringify({ ok: true, status: "live", version: packageVersion }));
}
