import path from "node:path";
import type { Config } from "./config/config.js";
import { HealthRecords } from "./health/health-records.js";
import { WorkerHealthMonitor, type WorkerHealthSources } from "./health/worker-health-monitor.js";
import type { Log } from "./log/log.js";

/** Opens the file with the start times of health states, and creates the health monitor of the workers. */
export async function openHealth(
  { stateDirectory }: Config,
  { log, ...sources }: Omit<WorkerHealthSources, "records" | "now" | "monotonicNow"> & { readonly log: Log },
): Promise<{ healthRecords: HealthRecords; workerHealth: WorkerHealthMonitor }> {
  const healthRecords = await HealthRecords.open({ file: path.join(stateDirectory, "health-states.json"), log });
  const times = { now: Date.now, monotonicNow: () => performance.now() };
  return { healthRecords, workerHealth: new WorkerHealthMonitor({ ...sources, ...times, records: healthRecords }) };
}
