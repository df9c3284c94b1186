import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** A package as described in package-lock.json. */
interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
const libc = header.glibcVersionRuntime === undefined ? "musl" : "glibc";

function fits(allowed: readonly string[] | undefined, value: string): boolean {
  if (allowed === undefined) return true;
  if (allowed.includes(`!${value}`)) return false;
  return allowed.includes(value) || allowed.every((entry) => entry.startsWith("!"));
}

function fitsThisMachine({ os, cpu, libc: libcs }: LockedPackage): boolean {
  return fits(os, process.platform) && fits(cpu, process.arch) && (process.platform !== "linux" || fits(libcs, libc));
}

/** Returns the folder from which Node loads `name` for a package in `from`, or undefined if package-lock.json has none. */
function resolve(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const candidate = path.posix.join(folder, "node_modules", name);
    if (packages[candidate]) return candidate;
    if (folder === "") return undefined;
  }
}

/** Returns the folders of all packages that an installation on this machine has. */
function expectedFolders(): string[] {
  const found = new Set<string>();
  const pending = [""];
  for (let from = pending.pop(); from !== undefined; from = pending.pop()) {
    const { dependencies, devDependencies, optionalDependencies } = packages[from] as LockedPackage;
    for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
      const folder = resolve(from, name);
      if (folder === undefined || found.has(folder) || !fitsThisMachine(packages[folder] as LockedPackage)) continue;
      found.add(folder);
      pending.push(folder);
    }
  }
  return [...found];
}

function installedVersion(folder: string): string | undefined {
  const file = path.join(root, folder, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version : undefined;
}

// npm silently skips an optional package if npm's Node is older than the package's `engines` require.
test("`npm install` installs the locked packages for the current platform", () => {
  const folders = expectedFolders();
  expect(folders).toContain("node_modules/koffi");
  expect(folders.some((folder) => folder.startsWith("node_modules/@libsql/"))).toBe(true);
  const missing = folders.filter((folder) => installedVersion(folder) !== packages[folder]?.version);
  expect(missing).toEqual([]);
});

// npm compiles a package with a binding.gyp unless its install script is denied: package-lock.json does not record `gypfile: false`.
test("`npm install` compiles no native package", () => {
  const { allowScripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { allowScripts: Record<string, boolean> };
  const compiled = expectedFolders().filter((folder) => existsSync(path.join(root, folder, "binding.gyp")));
  expect(compiled).toContain("node_modules/better-sqlite3");
  expect(compiled.filter((folder) => allowScripts[folder.replace(/^.*node_modules\//, "")] !== false)).toEqual([]);
});
