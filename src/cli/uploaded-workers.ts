import type { Worker } from "../shared/contract/workers.js";

/** The workers that somebody installed. The product's own, such as the control panel, are always there: lists and counts for people leave them out. */
export function uploadedWorkers(workers: readonly Worker[]): Worker[] {
  return workers.filter(({ source }) => source === "uploaded");
}
