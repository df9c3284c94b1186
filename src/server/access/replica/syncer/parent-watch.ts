// Thread of the syncer: only it can detect the daemon's end while a sync is blocked.
import { workerData } from "node:worker_threads";

const lookIntervalMs = 500;

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, lookIntervalMs);
