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
/** System folders that isolates with permission to start programs can read. */
const systemPrograms = ["/bin", "/sbin", "/usr", "/opt"];
const nameServers = "/etc/resolv.conf";

/** System configuration, including users and groups, which many programs read. */
const systemSettings = "/etc";
/** System files with secrets that root can read, including the secrets of `runtimectl daemon install`. */
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

/** The flag `O_PATH` of Linux. A descriptor with this flag identifies a file but cannot read the file. */
export const pathOnly = 0o10_000_000;

interface SystemPathOptions {
  readonly allowsPrograms: boolean;
  /** Folders of the daemon that isolates cannot access, even if the folders are below a system folder. */
  readonly closed?: readonly string[];
}

/** Returns the system paths that isolates can read. With `allowsPrograms`, these include the system configuration. */
export function readableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const files = allowsPrograms ? [...systemFiles, systemSettings] : systemFiles;
  return [...files.flatMap((file) => withoutFolders(file, [...closed, ...systemSecrets])), ...nameServerPaths()];
}

/**
 * Returns the system paths that isolates can execute: this Node.js binary and its libraries. With `allowsPrograms`, also the programs of
 * the system.
 */
export function runnableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const folders = allowsPrograms ? [...systemLibraries, ...systemPrograms] : systemLibraries;
  return [realpathSync(process.execPath), ...folders.flatMap((folder) => withoutFolders(folder, closed))];
}

/**
 * Returns `folder`. If a `closed` folder is inside `folder`, returns the other entries of `folder` instead, because Landlock rules have no
 * exclusions.
 */
function withoutFolders(folder: string, closed: readonly string[]): string[] {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  const inside = closed.map((own) => (existsSync(own) ? realpathSync(own) : own)).filter((own) => isPathWithin(own, real));
  if (inside.length === 0) return [folder];
  if (inside.includes(real)) return [];
  return readdirSync(real).flatMap((name) => withoutFolders(path.join(real, name), inside));
}

/**
 * Returns the folder that contains resolv.conf, because a rule for the file becomes invalid when a resolver replaces the file by a rename.
 * Returns the file itself if the folder is /etc.
 */
function nameServerPaths(): string[] {
  if (!existsSync(nameServers)) return [];
  const file = realpathSync(nameServers);
  const folder = path.dirname(file);
  return [folder === "/etc" ? file : folder];
}

/** Error: the path in a permission contains a symbolic link. A worker with write access to a parent folder could have created the link. */
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
 * Creates the missing folders of a path from a permission. `owner`: owner of the last folder if it is created. On Linux, follows no
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

/**
 * Opens the components of a path one after the other and returns the descriptor of the last component. `onMissing` can create a missing
 * component.
 */
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
