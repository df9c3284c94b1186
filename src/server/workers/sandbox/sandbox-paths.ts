import { existsSync, readdirSync, realpathSync, closeSync, constants, fstatSync, lchownSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { isPathWithin } from "../../platform/path-within.js";

/** System files that all isolates can read: for name resolution, verification of certificates and the time zone. */
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
/** System folders that an isolate can read if it is allowed to start programs. */
const systemPrograms = ["/bin", "/sbin", "/usr", "/opt"];
const nameServers = "/etc/resolv.conf";

/** System configuration, which many programs read for users and groups. */
const systemSettings = "/etc";
/** System files with secrets that root can read. Includes the secrets that `runtimectl daemon install` creates. */
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

/** The flag `O_PATH` of Linux. A descriptor with this flag stands for a file, but cannot read it. */
export const pathOnly = 0o10_000_000;

interface SystemPathOptions {
  readonly allowsPrograms: boolean;
  /** Folders of the daemon that no isolate can access, even below a system folder. */
  readonly closed?: readonly string[];
}

/** Returns the system paths that isolates can read. If `allowsPrograms` is true, includes the system configuration. */
export function readableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const files = allowsPrograms ? [...systemFiles, systemSettings] : systemFiles;
  return [...files.flatMap((file) => withoutFolders(file, [...closed, ...systemSecrets])), ...nameServerPaths()];
}

/**
 * Returns the system paths that isolates can execute: the Node.js binary and its libraries. If `allowsPrograms` is true, includes the
 * programs of the system.
 */
export function runnableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const folders = allowsPrograms ? [...systemLibraries, ...systemPrograms] : systemLibraries;
  return [realpathSync(process.execPath), ...folders.flatMap((folder) => withoutFolders(folder, closed))];
}

/**
 * Returns `folder`. If a folder in `closed` is inside it, returns the other entries of `folder` instead, because a Landlock rule cannot
 * exclude a subfolder.
 */
function withoutFolders(folder: string, closed: readonly string[]): string[] {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  const inside = closed.map((own) => (existsSync(own) ? realpathSync(own) : own)).filter((own) => isPathWithin(own, real));
  if (inside.length === 0) return [folder];
  if (inside.includes(real)) return [];
  return readdirSync(real).flatMap((name) => withoutFolders(path.join(real, name), inside));
}

/**
 * Returns the folder of resolv.conf. A rule for the file itself would be invalid after a resolver has replaced the file. If the folder is
 * /etc, returns the file.
 */
function nameServerPaths(): string[] {
  if (!existsSync(nameServers)) return [];
  const file = realpathSync(nameServers);
  const folder = path.dirname(file);
  return [folder === "/etc" ? file : folder];
}

/** Thrown if a path in a permission contains a symbolic link. A worker that can write to a parent folder could have created it. */
export class SymbolicLinkError extends Error {
  constructor(target: string) {
    super(`${target} contains a symbolic link; use the real path in the permission`);
    this.name = "SymbolicLinkError";
  }
}

/**
 * Opens a file or folder from a permission without following symbolic links, even if another process changes the path during the call.
 * Linux only.
 */
export function openGranted(target: string): number {
  return walk(target, () => undefined);
}

/**
 * Creates the missing folders of a path in a permission. If the last folder is created, `owner` becomes its owner. On Linux, follows no
 * symbolic link.
 */
export function makeGranted(target: string, owner: number | undefined): void {
  if (process.platform !== "linux") return void mkdirSync(target, { recursive: true, mode: 0o755 });
  const folder = walk(target, (entry, isLast) => {
    mkdirSync(entry, 0o755);
    if (isLast && owner !== undefined) lchownSync(entry, owner, owner);
  });
  closeSync(folder);
}

/** Opens the segments of a path one after another and returns the descriptor of the last one. `onMissing` can create a missing segment. */
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
