// The one place that knows the package libsql.
import Database from "libsql";

/** Its types know neither the options nor the method of a replica. */
interface SyncedDatabase {
  sync(): unknown;
}

interface SyncedOptions {
  readonly syncUrl: string;
  readonly authToken?: string;
}

/** A replica of a libSQL server. Opening and syncing block until the server has answered, for ever when it is frozen. */
export class LibsqlReplica {
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
