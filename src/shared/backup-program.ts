/** The job that `runtimectl daemon` passes to the backup program. Job and outcome are one line of JSON each. */
export interface BackupJob {
  readonly action: keyof BackupResults;
  /** Absolute path of the backup file. Empty for an action without a file. */
  readonly file: string;
  /** Environment variables that override those of the backup program's own environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isDryRun?: boolean;
  readonly discardOld?: boolean;
}

/** The result type of each action of a backup job. */
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
  /** Number of worker data folders in the backup. */
  readonly data: number;
  /** Paths of links and special files, which a backup does not contain. */
  readonly skipped: readonly string[];
}

export interface RestoredBackup {
  readonly createdAt: string;
  /**
   * Number of active keys in the backup. `keysBefore` is the number on this machine before the restore, or null if no key store is
   * readable.
   */
  readonly keys: number;
  readonly keysBefore: number | null;
  readonly packages: readonly PackageChange[];
  /** Paths of the folders to which the restore moved the previous data. */
  readonly kept: readonly string[];
  /** Whether the restore first completed an earlier, interrupted restore. In a dry run: whether the restore would do so. */
  readonly finishedEarlier: boolean;
}

export interface PackageChange {
  readonly kind: "workers" | "plugins" | "data";
  readonly path: string;
  readonly change: "add" | "replace" | "remove";
}

export interface MovedKeys {
  /** Number of keys that are not revoked. */
  readonly keys: number;
  /** Number of revoked keys. Their hashes are moved too. */
  readonly revoked: number;
}

export interface MigratedKeys extends MovedKeys {
  readonly primary: string;
  /** Path to which the local key store was renamed. Undefined if no keys were moved. */
  readonly keptAs?: string | undefined;
}

/** The state and package directories of the daemon. */
interface Where {
  readonly directories: object;
}
