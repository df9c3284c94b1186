// A process of its own that owns the replica's file: what libsql does blocks, so the daemon must be able to kill it.
import { Worker } from "node:worker_threads";
import { LibsqlReplica } from "./libsql-replica.js";
import type { SyncResponse, SyncJob } from "./sync-job.js";

// Files get a closed mode, whatever the daemon runs under.
process.umask(0o077);
process.on("disconnect", () => process.exit(0));
// A terminal's Ctrl-C is for the daemon, which ends this in its time.
process.on("SIGINT", () => undefined);
new Worker(new URL("parent-watch.js", import.meta.url), { workerData: process.ppid, stdout: true, stderr: true }).unref();

process.once("message", (job: SyncJob) => {
  let replica: LibsqlReplica | undefined;
  process.on("message", () => {
    process.send?.(responseTo(() => (replica ??= new LibsqlReplica(job)).sync()));
  });
});

function responseTo(sync: () => void): SyncResponse {
  try {
    sync();
    return { synced: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
