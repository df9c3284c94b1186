import type { NewerStateError } from "../config/newer-state-error.js";

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

export type BackupErrorCode =
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
