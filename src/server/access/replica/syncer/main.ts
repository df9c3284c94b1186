import { Worker } from "node:worker_threads";
import type { SyncResponse, SyncJob } from "./sync-job.js";
import Database from "libsql";

// A process of its own that owns the replica's file: what libsql does blocks, so the daemon must be able to kill it.

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

// The one place that knows the package libsql.

/** Its types know neither the options nor the method of a replica. */
interface SyncedDatabase {
  sync(): unknown;
}

interface SyncedOptions {
  readonly syncUrl: string;
  readonly authToken?: string;
}

/** A replica of a libSQL server. Opening and syncing block until the server has answered, for ever when it is frozen. */
class LibsqlReplica {
  readonly #database: SyncedDatabase;

  /** Opens or makes the file; throws when the server is away. */
  constructor({ file, url, token }: { file: string; url: string; token: string | undefined }) {
    const options: SyncedOptions = { syncUrl: url, ...(token !== undefined && { authToken: token }) };
    this.#database = new Database(file, options);
  }

  /** Fetches what is new. */
  sync(): void {
    this.#database.sync();
  }
}
