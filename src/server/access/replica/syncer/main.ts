import { Worker } from "node:worker_threads";
import type { SyncResponse, SyncJob } from "./sync-job.js";
import Database from "libsql";

// The process that owns the replica's file. libsql can block without limit, so the daemon must be able to kill this process.

// Files are private regardless of the daemon's umask.
process.umask(0o077);
process.on("disconnect", () => process.exit(0));
// Ctrl-C in a terminal signals all processes. The daemon stops the syncer itself.
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

// No other file uses the package libsql.

/** The type declarations of the package libsql lack the options and the method of a replica. */
interface SyncedDatabase {
  sync(): unknown;
}

interface SyncedOptions {
  readonly syncUrl: string;
  readonly authToken?: string;
}

/** A replica of a libSQL server. Opening and syncing block until the server responds. If the server is frozen, they block forever. */
class LibsqlReplica {
  readonly #database: SyncedDatabase;

  /** Opens or creates the file. Throws when the server is unreachable. */
  constructor({ file, url, token }: { file: string; url: string; token: string | undefined }) {
    const options: SyncedOptions = { syncUrl: url, ...(token !== undefined && { authToken: token }) };
    this.#database = new Database(file, options);
  }

  /** Fetches new changes. */
  sync(): void {
    this.#database.sync();
  }
}
