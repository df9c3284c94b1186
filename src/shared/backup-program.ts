/**
 * The job that `runtimectl daemon` sends to the backup program as one line of JSON. The backup program returns the outcome as one line of
 * JSON.
 */
export interface BackupJob {
  readonly action: keyof BackupResults;
  /** Absolute path of the backup file. Empty for an action without a file. */
  readonly file: string;
  /** Environment variables by name. The backup program uses these values in place of the values in the environment of its process. */
  readonly variables: Readonly<Record<string, string>>;
  readonly isDryRun?: boolean;
  /** True if a restore replaces only the data folders of workers. */
  readonly isDataOnly?: boolean;
  readonly discardOld?: boolean;
  /** The kind of package store that contains the packages after `migrate-packages`. */
  readonly packageStore?: PackageStoreKind;
}

/** The result type of each action of a backup job. */
export interface BackupResults {
  readonly backup: WrittenBackup & Where;
  readonly restore: RestoredBackup & Where & { readonly file: string };
  readonly "migrate-keys": MigratedKeys;
  readonly "migrate-packages": MigratedPackages;
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
  /** True if keys, workers and plugins stay unchanged. */
  readonly dataOnly: boolean;
  /**
   * Number of active keys in the backup. `keysBefore` is the number on this machine before the restore, or null if no key store is
   * readable.
   */
  readonly keys: number;
  readonly keysBefore: number | null;
  readonly packages: readonly PackageChange[];
  /** Paths of the folders to which the restore moved the previous data. */
  readonly kept: readonly string[];
  /**
   * Whether the restore first completed an earlier, interrupted restore. After a dry run, whether a real restore would first complete an
   * earlier one.
   */
  readonly finishedEarlier: boolean;
}

export interface PackageChange {
  readonly kind: "workers" | "plugins" | "data";
  readonly path: string;
  readonly change: "add" | "replace" | "remove";
}

export interface MovedKeys {
  /** Number of moved keys that are not revoked. */
  readonly keys: number;
  /** Number of moved keys that are revoked. */
  readonly revoked: number;
}

export interface MigratedKeys extends MovedKeys {
  readonly primary: string;
  /** New path of the local key store, which was renamed. Undefined if no keys were moved. */
  readonly keptAs?: string | undefined;
}

/** `oci`: a registry that several daemons share. `directory`: the directories of this machine. */
export type PackageStoreKind = "oci" | "directory";

export interface MigratedPackages {
  /** Value of RUNTIME_PACKAGE_STORE. */
  readonly store: string;
  /** Numbers of worker versions and of plugins that were moved. */
  readonly workers: number;
  readonly plugins: number;
  /** Number of packages that the store already had. */
  readonly present: number;
  /** Packages that were not moved. While this list is not empty, a daemon with a primary does not start. */
  readonly local: readonly UnmovedPackage[];
}

export interface UnmovedPackage {
  readonly kind: "worker" | "plugin";
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly reason: string;
}

/** The state and package directories of the daemon. */
interface Where {
  readonly directories: object;
}
