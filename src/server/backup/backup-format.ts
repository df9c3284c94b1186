import * as z from "zod";
import type { NewerStateError } from "../config/newer-state-error.js";

/**
 * A gzipped tar: `format.json`, `keys.db`, then for each package its files and a list of their digests, last `manifest.json` with the
 * digests of the lists. Ignore files without a list, which changed during the backup.
 */
export const formatName = "runtimectl-backup";
export const formatVersion = 2;
/** Earlier backups contain no data folders of workers. */
export const firstVersionWithData = 2;
export const entryNames = { format: "format.json", keyStore: "keys.db", manifest: "manifest.json" } as const;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
export const formatSchema = z.object({
  format: z.literal(formatName),
  version: z.number().int(),
  /** ISO 8601. */
  createdAt: z.iso.datetime(),
  runtimectl: z.string(),
});
export const packageListSchema = z.object({
  /** Path in the directory of its kind: `app/1.0.0`, `@team/app`. */
  path: z.string(),
  /** Paths in the package. Only folders without files are listed. */
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
/** Maximum size of the JSON documents in a backup, which are read into memory. */
export const longestDocumentBytes = 64 * 1024 * 1024;

/** `data` is the data folder of a worker, which a backup handles like a package. */
export type PackageKind = "workers" | "plugins" | "data";

export type Format = z.infer<typeof formatSchema>;
export type PackageList = z.infer<typeof packageListSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** A failed backup or restore. If files were changed, the message says so. Scripts can use `code`. */
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
  | "NOT_WRITTEN"
  | "BACKUP_NOT_FOUND"
  | "INVALID_BACKUP"
  | "DIRECTORY_MISSING"
  | "DAEMON_RUNNING"
  | "RESTORE_UNFINISHED"
  | "PRIMARY_NOT_SET"
  | "PRIMARY_HAS_KEYS"
  | "PRIMARY_UNAVAILABLE";

/** Returns the error of an invalid backup file. */
export function invalidBackup(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError("INVALID_BACKUP", `${file} cannot be restored: ${why}; nothing was changed`, {
    cause,
    hint: "take another backup; this one was changed or cut off since it was written, or is none",
  });
}

/** Returns the error of a schema that this program does not support. `subject` describes the store in the message. */
export function newerKeyStore({ subject: place, found, supported }: NewerStateError, consequence: string, subject = place): BackupError {
  return new BackupError(
    "KEY_STORE_NEWER",
    `${subject} has schema ${found}, and this runtimectl supports schemas up to ${supported}; ${consequence}`,
    { hint: "use the runtimectl of the runtimed that wrote it, or a newer one" },
  );
}
