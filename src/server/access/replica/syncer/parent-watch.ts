// A thread of the process that syncs: while a sync is blocked by a frozen server, nothing else there can see that the daemon is gone.
import { workerData } from "node:worker_threads";

const lookIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookIntervalMs);
