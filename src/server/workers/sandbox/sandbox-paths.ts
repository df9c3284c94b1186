import { existsSync, realpathSync } from "node:fs";
import path from "node:path";

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

/** Readable to every isolate; to one that may start programs the settings of the machine, too. */
export function readableSystemPaths({ allowsPrograms }: { allowsPrograms: boolean }): string[] {
  return [...systemFiles, ...nameServerPaths(), ...(allowsPrograms ? [systemSettings] : [])];
}

/** What every isolate may run: this Node and the libraries that it loads; with `allowsPrograms` the system's programs, too. */
export function runnableSystemPaths({ allowsPrograms }: { allowsPrograms: boolean }): string[] {
  return [realpathSync(process.execPath), ...systemLibraries, ...(allowsPrograms ? systemPrograms : [])];
}

/** A rule follows the inode, and a resolver replaces the file by rename: the folder is named, unless it holds other files of the system. */
function nameServerPaths(): string[] {
  if (!existsSync(nameServers)) return [];
  const file = realpathSync(nameServers);
  const folder = path.dirname(file);
  return [folder === "/etc" ? file : folder];
}
