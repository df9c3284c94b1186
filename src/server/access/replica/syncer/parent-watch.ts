// A thread of the syncer that detects the daemon's exit, because the main thread can be blocked by a sync.
import { workerData } from "node:worker_threads";

const lookIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookIntervalMs);
