import { existsSync, readdirSync, realpathSync, closeSync, constants, fstatSync, lchownSync, mkdirSync, openSync } from "node:fs";
import path from "node:path";
import { isPathWithin } from "../../platform/path-within.js";

/** What a program needs of the machine to resolve names, verify certificates and know the time zone. */
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
/** For isolates that may start programs. */
const systemPrograms = ["/bin", "/sbin", "/usr", "/opt"];
const nameServers = "/etc/resolv.conf";

/** Programs read settings of the machine, users and groups among them. */
const systemSettings = "/etc";
/** Secrets of the machine, which root may read; those of `runtimectl daemon install` among them. */
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

/** `O_PATH` of Linux: a descriptor that only names a file. */
export const pathOnly = 0o10_000_000;

interface SystemPathOptions {
  readonly allowsPrograms: boolean;
  /** Folders of the daemon: what it keeps below a folder of the system is left out. */
  readonly closed?: readonly string[];
}

/** Readable to every isolate; to one that may start programs the settings of the machine, too. */
export function readableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const files = allowsPrograms ? [...systemFiles, systemSettings] : systemFiles;
  return [...files.flatMap((file) => withoutFolders(file, [...closed, ...systemSecrets])), ...nameServerPaths()];
}

/** What every isolate may run: this Node and the libraries that it loads; with `allowsPrograms` the system's programs, too. */
export function runnableSystemPaths({ allowsPrograms, closed = [] }: SystemPathOptions): string[] {
  const folders = allowsPrograms ? [...systemLibraries, ...systemPrograms] : systemLibraries;
  return [realpathSync(process.execPath), ...folders.flatMap((folder) => withoutFolders(folder, closed))];
}

/** A folder, or its entries where one of the `closed` folders lies below it: a rule of Landlock cannot leave anything out. */
function withoutFolders(folder: string, closed: readonly string[]): string[] {
  const real = existsSync(folder) ? realpathSync(folder) : folder;
  const inside = closed.map((own) => (existsSync(own) ? realpathSync(own) : own)).filter((own) => isPathWithin(own, real));
  if (inside.length === 0) return [folder];
  if (inside.includes(real)) return [];
  return readdirSync(real).flatMap((name) => withoutFolders(path.join(real, name), inside));
}

/** A rule follows the inode, and a resolver replaces the file by rename: the folder is named, unless it holds other files of the system. */
function nameServerPaths(): string[] {
  if (!existsSync(nameServers)) return [];
  const file = realpathSync(nameServers);
  const folder = path.dirname(file);
  return [folder === "/etc" ? file : folder];
}

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
