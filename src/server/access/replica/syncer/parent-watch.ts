// Thread of the syncer process that detects the exit of the daemon. The main thread cannot detect it while a sync blocks.
import { workerData } from "node:worker_threads";

const checkIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, checkIntervalMs);
