import { ApiError } from "../../../shared/api-error.js";
import type { Visit } from "./visit.js";
import type { WorkerMeter } from "./worker-meter.js";

/** From `/app` to `/app/`: an absolute path, so it holds behind any proxy, and never the name of a host. */
export function redirectToBase(meter: WorkerMeter, { response, requestId, address }: Visit): void {
  meter.beganCount += 1;
  meter.note(308, 0, performance.now());
  response.writeHead(308, ["location", `${address.base}/${address.query}`, "content-length", "0", "x-request-id", requestId]);
  response.end();
}

export function notFound(): ApiError {
  return new ApiError("NOT_FOUND", "Nothing answers at this path.");
}

export function stopping(): ApiError {
  return new ApiError("WORKER_UNAVAILABLE", "The daemon is stopping; try again in a moment.", { retryAfterSeconds: 5 });
}
