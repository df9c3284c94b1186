/** What `runtimectl daemon` asks of the daemon's backup program, and what that answers: one line of JSON each. */
export interface BackupJob {
  readonly action: keyof BackupResults;
  /** Absolute; "" where there is none. */
  readonly file: string;
  /** In place of those of the environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isDryRun?: boolean;
  readonly discardOld?: boolean;
}

/** By action. */
export interface BackupResults {
  readonly backup: WrittenBackup & Where;
  readonly restore: RestoredBackup & Where & { readonly file: string };
  readonly "migrate-keys": MigratedKeys;
}

export type BackupOutcome<Result> = { readonly result: Result } | { readonly error: BackupFailure };

export interface BackupFailure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export interface WrittenBackup {
  readonly file: string;
  readonly createdAt: string;
  readonly sizeBytes: number;
  readonly keys: number;
  readonly workers: number;
  readonly plugins: number;
  /** Paths of links and the like, which are not in it. */
  readonly skipped: readonly string[];
}

export interface RestoredBackup {
  readonly createdAt: string;
  /** In force in the backup, and here before; null where there is no key store, or none that can be read. */
  readonly keys: number;
  readonly keysBefore: number | null;
  readonly packages: readonly PackageChange[];
  /** Where what was there lies now. */
  readonly kept: readonly string[];
  /** An earlier restore was interrupted, and was finished first (in a dry run: would be). */
  readonly finishedEarlier: boolean;
}

export interface PackageChange {
  readonly kind: "workers" | "plugins";
  readonly path: string;
  readonly change: "add" | "replace" | "remove";
}

export interface MovedKeys {
  /** Not revoked. */
  readonly keys: number;
  /** Their hashes stay known, too. */
  readonly revoked: number;
}

export interface MigratedKeys extends MovedKeys {
  readonly primary: string;
  /** Where the local store is kept; undefined when nothing was moved. */
  readonly keptAs?: string | undefined;
}

/** The directories of the daemon, by what they hold. */
interface Where {
  readonly directories: object;
}
