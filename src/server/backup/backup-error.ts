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
