import { existsSync, readdirSync, realpathSync, closeSync, constants, fstatSync, lchownSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { isPathWithin } from "../../platform/path-within.js";

/** System files for name resolution, certificate verification and the time zone. */
const systemFiles = [
  "/etc/hosts",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/localtime",
  "/etc/ssl",
  "/etc/ld.so.cache",
  "/usr/share/ca-certificates",
  "/usr/share/zoneinfo",
  "/dev/urandom",
];
const systemLibraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
/** Folders for isolates that are allowed to start programs. */
const systemPrograms = ["/bin", "/sbin", "/usr", "/opt"];
const nameServers = "/etc/resolv.conf";

/** System configuration, including users and groups, which programs read. */
const systemSettings = "/etc";
/** System secrets that root can read, including those of `runtimectl daemon install`. */
const systemSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssh",
  "/etc/ssl/private",
  "/etc/runtimed",
];

/** Linux `O_PATH`: the descriptor only identifies a file. */
export const pathOnly = 0o10_000_000;

interface SystemPathOptions {
  readonly allowsPrograms: boolean;
  /** Folders of the daemon, which are excluded below system folders. */
  readonly closed?: readonly string[];
}

/** Returns the system paths that isolates can read; `allowsPrograms` adds the system configuration. */
export function readableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const files = allowsPrograms ? [...systemFiles, systemSettings] : systemFiles;
  return [...files.flatMap((file) => withoutFolders(file, [...closed, ...systemSecrets])), ...nameServerPaths()];
}

/** Returns the system paths that isolates can execute: this Node binary and its libraries; `allowsPrograms` adds the system's programs. */
export function runnableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const folders = allowsPrograms ? [...systemLibraries, ...systemPrograms] : systemLibraries;
  return [realpathSync(process.execPath), ...folders.flatMap((folder) => withoutFolders(folder, closed))];
}

/** Returns the folder, or its entries except the `closed` folders below it: a Landlock rule has no exclusions. */
function withoutFolders(folder: string, closed: readonly string[]): string[] {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  const inside = closed.map((own) => (existsSync(own) ? realpathSync(own) : own)).filter((own) => isPathWithin(own, real));
  if (inside.length === 0) return [folder];
  if (inside.includes(real)) return [];
  return readdirSync(real).flatMap((name) => withoutFolders(path.join(real, name), inside));
}

/**
 * A rule applies to an inode, and resolvers replace the file by rename. Therefore the rule names the folder, unless that contains other
 * system files.
 */
function nameServerPaths(): string[] {
  if (!existsSync(nameServers)) return [];
  const file = realpathSync(nameServers);
  const folder = path.dirname(file);
  return [folder === "/etc" ? file : folder];
}

/** A granted path contains a symbolic link, which a worker with write access above it could have created. */
export class SymbolicLinkError extends Error {
  constructor(target: string) {
    super(`${target} is a symbolic link or below one; use the real path in the permission`);
    this.name = "SymbolicLinkError";
  }
}

/** Opens a granted file or folder without following symbolic links, even if they change during the call. Linux only. */
export function openGranted(target: string): number {
  return walk(target, () => undefined);
}

/** Creates the missing folders of a granted path; the last one belongs to `owner`, if given. On Linux, follows no symbolic link. */
export function makeGranted(target: string, owner: number | undefined): void {
  if (process.platform !== "linux") return void mkdirSync(target, { recursive: true, mode: 0o755 });
  const folder = walk(target, (entry, isLast) => {
    mkdirSync(entry, 0o755);
    if (isLast && owner !== undefined) lchownSync(entry, owner, owner);
  });
  closeSync(folder);
}

/** Opens each path component in turn. `onMissing` can create a missing entry. */
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
