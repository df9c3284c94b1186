import { ApiError } from "../../shared/api-error.js";

export function isStorageFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

const closedCodes = new Set(["EROFS", "EACCES", "EPERM"]);

/** The failure as a caller should see it: a disk that is full, or cannot be written, has a code of its own. */
export function asStorageFailure(error: unknown): unknown {
  if (isStorageFull(error)) return insufficientStorage(error);
  const { code = "" } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError || !closedCodes.has(code)) return error;
  return new ApiError(
    "STORAGE_NOT_WRITABLE",
    "The server may not write where this package lies; nothing was changed. Make the directory writable for the daemon, then try again.",
    { cause: error },
  );
}

export function insufficientStorage(cause: unknown): ApiError {
  return new ApiError(
    "INSUFFICIENT_STORAGE",
    "The server's disk is full; nothing was changed. Delete what is not needed, then try again.",
    {
      cause,
    },
  );
}
