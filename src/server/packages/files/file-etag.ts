import { createHash } from "node:crypto";
import { closeSync, fstatSync, type BigIntStats } from "node:fs";
import { ApiError } from "../../../shared/api-error.js";
import { shown } from "../../../shared/archive/refusal.js";
import type { ResolvedPath } from "./file-paths.js";
import { inDirectoryHandle, DirectoryHandle } from "./directory-handle.js";

/**
 * Returns the ETag of a file. The inode is part of the ETag, because the daemon writes new content to a new inode. The change time (ctime)
 * is not part of the ETag, because a hard link of an isolate changes the ctime.
 */
export function etagOf({ ino, size, mtimeNs }: Pick<BigIntStats, "ino" | "size" | "mtimeNs">): string {
  const mark = createHash("sha256").update(`${ino} ${size} ${mtimeNs}`).digest("base64url").slice(0, 22);
  return `"${mark}"`;
}

/** Throws PRECONDITION_FAILED unless the file has this ETag. */
export function assertEtag({ mount, below, path }: ResolvedPath, etag: string): void {
  // Ignores the prefix W/, because a proxy that compresses a response changes the ETag to a weak one.
  if (currentEtag(mount.path, below) === etag.replace(/^W\//, "")) return;
  throw new ApiError(
    "PRECONDITION_FAILED",
    `${shown(path)} was changed or deleted after it was read. Nothing was written. Read the file again, then retry.`,
  );
}

function currentEtag(directory: string, below: readonly string[]): string | undefined {
  try {
    return inDirectoryHandle(DirectoryHandle.open(directory, below.slice(0, -1)), (folder) => {
      const descriptor = folder.openFile(below.at(-1) as string);
      if (descriptor === undefined) return undefined;
      try {
        return etagOf(fstatSync(descriptor, { bigint: true }));
      } finally {
        closeSync(descriptor);
      }
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
