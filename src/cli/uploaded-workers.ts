import type { Worker } from "../shared/contract/workers.js";

/**
 * Returns the workers that were uploaded. Built-in workers, such as the control panel, are left out: they are always installed and must not
 * appear in lists and counts.
 */
export function uploadedWorkers(workers: readonly Worker[]): Worker[] {
  return workers.filter(({ source }) => source === "uploaded");
}
