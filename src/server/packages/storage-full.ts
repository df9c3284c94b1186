import { ApiError } from "../../shared/api-error.js";

export function isStorageFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/** The failure as a caller should see it: a full disk has a code of its own. */
export function asStorageFailure(error: unknown): unknown {
  return isStorageFull(error) ? insufficientStorage(error) : error;
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
