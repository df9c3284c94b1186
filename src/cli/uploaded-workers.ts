import type { Worker } from "../shared/contract/workers.js";

/** Returns the uploaded workers. Lists and counts omit built-in workers, such as the control panel, which are always installed. */
export function uploadedWorkers(workers: readonly Worker[]): Worker[] {
  return workers.filter(({ source }) => source === "uploaded");
}
