import { Worker } from "node:worker_threads";
import { endProcess } from "../../../platform/end-process.js";
import type { SyncerStarted, SyncResponse, SyncJob } from "./sync-job.js";
import Database from "libsql";

// The syncer process, which writes the file of the replica. A separate process is necessary, because libsql can block without limit and the
// daemon must be able to kill it.

// Makes new files readable only for the daemon's user, independently of the umask that the process inherits.
process.umask(0o077);
process.on("disconnect", endProcess);
// Ignores SIGINT, because the daemon stops the syncer. With Ctrl-C, a terminal sends SIGINT to the daemon and to the syncer.
process.on("SIGINT", () => undefined);
new Worker(new URL("parent-watch.js", import.meta.url), { workerData: process.ppid, stdout: true, stderr: true }).unref();

process.once("message", (job: SyncJob) => {
  let replica: LibsqlReplica | undefined;
  process.on("message", () => {
    process.send?.(responseTo(() => (replica ??= new LibsqlReplica(job)).sync()));
  });
  process.send?.({ started: true } satisfies SyncerStarted);
});

function responseTo(sync: () => void): SyncResponse {
  try {
    sync();
    return { synced: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

// Imports the package libsql. No other file imports this package.

/** Methods of a replica that are missing in the type declarations of the package libsql. */
interface SyncedDatabase {
  sync(): unknown;
}

interface SyncedOptions {
  readonly syncUrl: string;
  readonly authToken?: string;
}

/**
 * A replica of a libSQL server. The constructor and `sync` block until the server responds. If the server is frozen, both block forever.
 */
class LibsqlReplica {
  readonly #database: SyncedDatabase;

  /** Opens or creates the replica's file. Throws if the server is unreachable. */
  constructor({ file, url, token }: { file: string; url: string; token: string | undefined }) {
    const options: SyncedOptions = { syncUrl: url, ...(token !== undefined && { authToken: token }) };
    this.#database = new Database(file, options);
  }

  /** Fetches new changes from the server. */
  sync(): void {
    this.#database.sync();
  }
}
