/** The job that `runtimectl daemon` passes to the backup program. Job and outcome are one line of JSON each. */
export interface BackupJob {
  readonly action: keyof BackupResults;
  /** Absolute path, or "" for a job without a file. */
  readonly file: string;
  /** Override the variables of the environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isDryRun?: boolean;
  readonly discardOld?: boolean;
}

/** The result of each action. */
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
  /** Number of data folders. */
  readonly data: number;
  /** Paths of skipped links and special files. */
  readonly skipped: readonly string[];
}

export interface RestoredBackup {
  readonly createdAt: string;
  /** Active keys in the backup. `keysBefore`: on this machine before; null without a readable key store. */
  readonly keys: number;
  readonly keysBefore: number | null;
  readonly packages: readonly PackageChange[];
  /** Folders with the previous data. */
  readonly kept: readonly string[];
  /** Whether an interrupted earlier restore was completed first (in a dry run: would be). */
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
  /** Number of revoked keys, whose hashes are also kept. */
  readonly revoked: number;
}

export interface MigratedKeys extends MovedKeys {
  readonly primary: string;
  /** Path of the kept local store. Undefined if nothing was moved. */
  readonly keptAs?: string | undefined;
}

/** The directories of the daemon. */
interface Where {
  readonly directories: object;
}
