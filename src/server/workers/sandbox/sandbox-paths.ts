import { existsSync, readdirSync, realpathSync } from "node:fs";
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
