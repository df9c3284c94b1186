// Thread of the syncer process that detects the daemon's exit. The main thread cannot, because a sync can block it.
import { workerData } from "node:worker_threads";

const lookIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookIntervalMs);
