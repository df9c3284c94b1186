import { ApiError } from "../../../shared/api-error.js";
import { shown } from "../../../shared/archive/refusal.js";
import { asStorageFailure } from "../../platform/storage-full.js";

/** What a system call says of a path, as the caller should see it. */
export function asFileFailure(error: unknown, path: string): unknown {
  // Here it is known which path is meant.
  if (error instanceof ApiError) return error.code === "STORAGE_NOT_WRITABLE" ? asFileFailure(error.cause, path) : error;
  const { code = "" } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return notFound(path, error);
    case "ELOOP":
      return throughLink(path, error);
    case "EEXIST":
    case "ENOTEMPTY":
    case "EISDIR":
      return taken(path, error);
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "EBUSY":
      return notWritable(path, "the daemon may not do that there", error);
    case "EXDEV":
      return notWritable(path, "it lies on another file system; download it and upload it there", error);
    case "ENAMETOOLONG":
      return new ApiError("INVALID_REQUEST", `The path ${shown(path)} cannot be used: it is too long for the disk.`, { cause: error });
    default:
      return asStorageFailure(error);
  }
}

/** The same where nothing was to be changed: what the daemon may not read is not there. */
export function asReadFailure(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM" ? notFound(path, error) : asFileFailure(error, path);
}

export function notFound(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_NOT_FOUND", `There is nothing at ${shown(path)}.`, { cause });
}

export function throughLink(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_TRAVERSAL", `The path ${shown(path)} leads through a link. Links are not followed.`, { cause });
}

export function taken(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_EXISTS", `There is something at ${shown(path)} already. Delete it, or choose another name.`, { cause });
}

export function notWritable(path: string, why: string, cause?: unknown): ApiError {
  return new ApiError("PATH_NOT_WRITABLE", `Nothing can be changed at ${shown(path)}: ${why}.`, { cause });
}
