// Thread of the syncer process that detects the daemon's exit. A separate thread is necessary, because a sync can block the main thread.
import { workerData } from "node:worker_threads";

const lookIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookIntervalMs);
