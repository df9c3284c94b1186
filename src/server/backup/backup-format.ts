import * as z from "zod";
import type { NewerStateError } from "../config/newer-state-error.js";

/**
 * A backup is a gzipped tar: `format.json`, `keys.db`, then for each package its files below `<kind>/<directory>/<number>/` and after them
 * `<kind>/<directory>/<number>.json`, which lists them with their digests; `manifest.json`, the last, has the digests of these lists.
 * Files without a list were read while they changed, and were read again under another number: they do not count.
 */
export const formatName = "runtimectl-backup";
export const formatVersion = 1;
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
  /** Below its directory: `app/1.0.0`, `@team/app`. */
  path: z.string(),
  /** Below the package; without those that its files are in. */
  folders: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), mode: z.number().int().min(0).max(0o777), sizeBytes: z.number().int(), sha256 })),
});
export const manifestSchema = formatSchema.extend({
  keyStore: z.object({ keys: z.number().int(), sha256 }),
  packages: z.array(
    z.object({ kind: z.enum(["workers", "plugins"]), directory: z.number().int(), number: z.number().int(), path: z.string(), sha256 }),
  ),
});
/** Of one of the backup's own documents; they are held in memory. */
export const longestDocumentBytes = 64 * 1024 * 1024;

export type PackageKind = "workers" | "plugins";

export type Format = z.infer<typeof formatSchema>;
export type PackageList = z.infer<typeof packageListSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** Why a backup or a restore ended; nothing was changed unless the message says otherwise. The code is for scripts. */
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
  | "NOT_WRITTEN"
  | "BACKUP_NOT_FOUND"
  | "INVALID_BACKUP"
  | "DIRECTORY_MISSING"
  | "DAEMON_RUNNING"
  | "RESTORE_UNFINISHED"
  | "PRIMARY_NOT_SET"
  | "PRIMARY_HAS_KEYS"
  | "PRIMARY_UNAVAILABLE";

/** What went wrong with a backup's file itself. */
export function invalidBackup(file: string, why: string, cause?: unknown): BackupError {
  return new BackupError("INVALID_BACKUP", `${file} cannot be restored: ${why}; nothing was changed`, {
    cause,
    hint: "take another backup; this one was changed or cut off since it was written, or is none",
  });
}

/** State has a schema that this program does not support; `subject` replaces the one of the error where that is a copy. */
export function newerKeyStore({ subject: place, found, supported }: NewerStateError, consequence: string, subject = place): BackupError {
  return new BackupError(
    "KEY_STORE_NEWER",
    `${subject} has schema ${found}, and this runtimectl supports schemas up to ${supported}; ${consequence}`,
    { hint: "use the runtimectl of the runtimed that wrote it, or a newer one" },
  );
}
