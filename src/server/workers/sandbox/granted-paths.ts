import { closeSync, constants, fstatSync, lchownSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";

/** `O_PATH` of Linux: a descriptor that only names a file. */
export const pathOnly = 0o10_000_000;

/** A granted path leads through a symbolic link, which a worker that may write above it could have made. */
export class SymbolicLinkError extends Error {
  constructor(target: string) {
    super(`${target} is a symbolic link or below one; permissions name real paths`);
    this.name = "SymbolicLinkError";
  }
}

/** Opens a granted file or folder without following any symbolic link, however they change meanwhile. Linux only. */
export function openGranted(target: string): number {
  return walk(target, () => undefined);
}

/** Creates the folders of a granted path that do not exist, the last one for `owner`, when given. Follows no symbolic link on Linux. */
export function makeGranted(target: string, owner: number | undefined): void {
  if (process.platform !== "linux") return void mkdirSync(target, { recursive: true, mode: 0o755 });
  const folder = walk(target, (entry, isLast) => {
    mkdirSync(entry, 0o755);
    if (isLast && owner !== undefined) lchownSync(entry, owner, owner);
  });
  closeSync(folder);
}

/** `onMissing` may create the entry. */
function walk(target: string, onMissing: (entry: string, isLast: boolean) => void): number {
  const names = path.resolve(target).split(path.sep).filter(Boolean);
  let folder = openSync("/", pathOnly);
  for (const [index, name] of names.entries()) {
    const entry = `/proc/self/fd/${folder}/${name}`;
    let next: number;
    try {
      next = openOrMake(entry, () => onMissing(entry, index === names.length - 1));
    } finally {
      closeSync(folder);
    }
    if (fstatSync(next).isSymbolicLink()) {
      closeSync(next);
      throw new SymbolicLinkError(target);
    }
    folder = next;
  }
  return folder;
}

function openOrMake(entry: string, onMissing: () => void): number {
  const flags = pathOnly | constants.O_NOFOLLOW;
  try {
    return openSync(entry, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    onMissing();
    return openSync(entry, flags);
  }
}
