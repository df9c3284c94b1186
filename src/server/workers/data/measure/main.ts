// Worker thread of the daemon: measures folders, so that a folder with many entries delays no request.
import { parentPort } from "node:worker_threads";
import { measureDiskUsage } from "../disk-usage.js";
import type { MeasureOrder, Measured } from "../usage-meter.js";

parentPort?.on("message", ({ id, folder, pids }: MeasureOrder) => {
  parentPort?.postMessage({ id, usage: measureDiskUsage(folder, pids) } satisfies Measured);
});
