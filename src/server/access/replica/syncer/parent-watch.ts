// Thread of the syncer process that detects the exit of the daemon. The main thread cannot detect it while a sync blocks.
import { workerData } from "node:worker_threads";
import { endProcess } from "../../../platform/end-process.js";

const checkIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) endProcess();
}, checkIntervalMs);
