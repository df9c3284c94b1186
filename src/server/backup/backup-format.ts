import * as z from "zod";
import type { NewerStateError } from "../config/newer-state-error.js";

/**
 * Format of a backup: a gzipped tar with `format.json`, `keys.db`, the files of each package followed by a list of digests, and
 * `manifest.json`. Readers ignore files without a list, because these files changed during the backup.
 */
export const formatName = "runtimectl-backup";
export const formatVersion = 2;
/** First format version that contains the data folders of workers. */
export const firstVersionWithData = 2;
export const entryNames = { format: "format.json", keyStore: "keys.db", manifest: "manifest.json" } as const;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const formatSchema = z.object({
  format: z.literal(formatName),
  version: z.number().int(),
  /** Time of the backup in ISO 8601. */
  createdAt: z.iso.datetime(),
  runtimectl: z.string(),
});
export const packageListSchema = z.object({
  /** Path of the package in its directory, such as `app/1.0.0` or `@team/app`. */
  path: z.string(),
  /** Paths of all folders in the package. */
  folders: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), mode: z.number().int().min(0).max(0o777), sizeBytes: z.number().int(), sha256 })),
});
export const manifestSchema = formatSchema.extend({
  keyStore: z.object({ keys: z.number().int(), sha256 }),
  packages: z.array(
    z.object({
      kind: z.enum(["workers", "plugins", "data"]),
      directory: z.number().int(),
      number: z.number().int(),
      path: z.string(),
      sha256,
    }),
  ),
});
/** Maximum size in bytes of a JSON document in a backup, because these documents are read into memory. */
export const longestDocumentBytes = 64 * 1024 * 1024;

/**
 * Kind of a directory in a backup. The kind `data` stands for the data folders of workers. A backup treats a data folder like a package.
 */
export type PackageKind = "workers" | "plugins" | "data";

export type Format = z.infer<typeof formatSchema>;
export type PackageList = z.infer<typeof packageListSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** Error of a failed backup or restore. The message mentions changed files, if there are any. Scripts read `code`. */
export class BackupError extends Error {
  readonly code: BackupErrorCode;
  readonly hint: string | undefined;

  constructor(code: BackupErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "BackupError";
    this.code = code;
    this.hint = options.hint;
  }
}

type BackupErrorCode =
  | "STATE_NOT_FOUND"
  | "KEY_STORE_DAMAGED"
  | "KEY_STORE_NEWER"
  | "PACKAGE_CHANGING"
  | "DATA_NOT_COPIED"
  | "INSUFFICIENT_STORAGE"
  | "NOT_WRITTEN"
  | "BACKUP_NOT_FOUND"
  | "INVALID_BACKUP"
  | "DIRECTORY_MISSING"
  | "DAEMON_RUNNING"
  | "RESTORE_UNFINISHED"
  | "PRIMARY_NOT_SET"
  | "PRIMARY_HAS_KEYS"
  | "PRIMARY_UNAVAILABLE"
  | "REGISTRY_UNAVAILABLE"
  | "SETTING_NOT_VALID";

/** Returns the error for a file that is not a valid backup. `why` completes the message. */
export function invalidBackup(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError("INVALID_BACKUP", `${file} cannot be restored: ${why}; nothing was changed`, {
    cause,
    hint: "use another file: this file is not a backup, or was changed or truncated after it was written",
  });
}

/** Returns the error for a key store whose schema is newer than this program supports. `subject` names the key store in the message. */
export function newerKeyStore({ subject: place, found, supported }: NewerStateError, consequence: string, subject = place): BackupError {
  return new BackupError(
    "KEY_STORE_NEWER",
    `${subject} has schema ${found}, and this runtimectl supports schemas up to ${supported}; ${consequence}`,
    { hint: "use the runtimectl version of the runtimed that wrote the key store, or a newer version" },
  );
}
