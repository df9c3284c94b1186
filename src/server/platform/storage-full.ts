import { ApiError } from "../../shared/api-error.js";

export function isStorageFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

const closedCodes = new Set(["EROFS", "EACCES", "EPERM"]);

/**
 * Converts an error about a full or read-only disk to INSUFFICIENT_STORAGE or STORAGE_NOT_WRITABLE. Returns every other error unchanged.
 */
export function asStorageFailure(error: unknown): unknown {
  if (isStorageFull(error)) return insufficientStorage(error);
  const { code = "" } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError || !closedCodes.has(code)) return error;
  return new ApiError(
    "STORAGE_NOT_WRITABLE",
    "The daemon cannot write to the folder of this package. Nothing was changed. Make the folder writable for the daemon, then retry.",
    { cause: error },
  );
}

export function insufficientStorage(cause: unknown): ApiError {
  return new ApiError("INSUFFICIENT_STORAGE", "The daemon's disk is full. Nothing was changed. Free disk space, then retry.", {
    cause,
  });
}
