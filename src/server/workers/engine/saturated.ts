import { ApiError } from "../../../shared/api-error.js";

export function saturated(): ApiError {
  return new ApiError("WORKER_POOL_SATURATED", "Too many requests wait for this worker; try again in a moment.", { retryAfterSeconds: 1 });
}
