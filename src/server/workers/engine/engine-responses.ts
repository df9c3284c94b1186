import { ApiError } from "../../../shared/api-error.js";
import type { WorkerExchange } from "./worker-exchange.js";
import type { VersionHandler } from "./version-handler.js";

/** Redirects `/app` to `/app/`. The `Location` is a path without a host, so it is correct behind any proxy. */
export function redirectToBase({ meter, requestLog }: VersionHandler, exchange: WorkerExchange): void {
  const { response, requestId, address } = exchange;
  meter.beganCount += 1;
  meter.note(308, 0, performance.now());
  response.writeHead(308, ["location", `${address.base}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
  requestLog.write(exchange, { status: 308, durationMs: 0, responseBytes: 0 });
}

export function notFound(): ApiError {
  return new ApiError("NOT_FOUND", "No worker serves this path.");
}

export function stopping(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping. Retry after 5 seconds.", { retryAfterSeconds: 5 });
}
