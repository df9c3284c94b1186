import type { FileChange, RootOf } from "./mounts.js";
import type { PackageFolder } from "./package-folder.js";
import { inTransaction } from "../transactions/transaction.js";
import { discardAfter, type InstallAreas } from "../transactions/install-areas.js";
import { forgetDigest } from "../stored-folders.js";
import { ApiError } from "../../../shared/api-error.js";
import { shown } from "../../../shared/archive/refusal.js";
import { asStorageFailure } from "../../platform/storage-full.js";

interface FileChangeSurroundings {
  readonly areas: InstallAreas;
  /**
   * Updates the catalog after a change of a package folder, and retires the previous content, in the same turn of the event loop. If the
   * folder was moved, running isolates read from `movedTo`.
   */
  readonly renew: (packageFolder: PackageFolder, movedTo: string | undefined) => Promise<void>[];
}

/** Changes files of packages in one directory. Prepares the change, and applies it while no other change of the directory runs. */
export async function runFileChange(
  { areas, renew }: FileChangeSurroundings,
  packageFolders: readonly PackageFolder[],
  change: FileChange,
): Promise<void> {
  const [{ directory }] = packageFolders as [PackageFolder];
  const area = areas.of(directory);
  await inTransaction(area, async (staged) => {
    const aside = await staged.makeContentFolder();
    await change.prepare?.(aside);
    let retiring: Promise<void>[] = [];
    await area.exclusively(async () => {
      change.check?.(aside);
      for (const { folder } of packageFolders) await forgetDigest(staged, folder);
      retiring = applyAndRenew(change, aside, (movedTo) => packageFolders.flatMap((packageFolder) => renew(packageFolder, movedTo)));
      await change.settle(inPlace);
    });
    await discardAfter(retiring, staged);
  });
}

const inPlace: RootOf = (directory) => directory;

/** Applies the change and updates the catalog in one turn of the event loop. No request then sees the new files with the old catalog. */
function applyAndRenew(change: FileChange, aside: string, renewAll: (movedTo: string | undefined) => Promise<void>[]): Promise<void>[] {
  try {
    return renewAll(change.apply(aside, inPlace));
  } catch (error) {
    if (change.hasSteps) void renewAll(undefined);
    throw error;
  }
}

/** Converts the error of a system call to an ApiError that contains the path. */
export function asFileFailure(error: unknown, path: string): unknown {
  // Converts STORAGE_NOT_WRITABLE again from its cause, because the message must contain `path`.
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
      return notWritable(path, "the operating system does not allow this operation", error);
    case "EXDEV":
      return notWritable(path, "the destination is on another file system; download the files and upload them there", error);
    case "ENAMETOOLONG":
      return new ApiError("INVALID_REQUEST", `The path ${shown(path)} cannot be used: it is too long for the file system.`, {
        cause: error,
      });
    default:
      return asStorageFailure(error);
  }
}

/** Converts the error of a read like `asFileFailure`. If the daemon has no permission to read the file, the file counts as missing. */
export function asReadFailure(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM" ? notFound(path, error) : asFileFailure(error, path);
}

export function notFound(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_NOT_FOUND", `The path ${shown(path)} does not exist.`, { cause });
}

export function throughLink(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_TRAVERSAL", `The path ${shown(path)} contains a symbolic link. The daemon does not follow links.`, { cause });
}

export function taken(path: string, cause?: unknown): ApiError {
  return new ApiError("PATH_EXISTS", `The path ${shown(path)} already exists. Delete it, or choose another name.`, { cause });
}

export function notWritable(path: string, why: string, cause?: unknown): ApiError {
  return new ApiError("PATH_NOT_WRITABLE", `The daemon cannot change ${shown(path)}: ${why}.`, { cause });
}
