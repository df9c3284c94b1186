import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const maximumOutputBytes = 2 ** 26;

/**
 * Packs the version of a commit with `npm pack`, and installs it below `directory` with npm. Returns the path of its `runtimed`. Needs the
 * commit in the history, and the npm registry or its cache.
 */
export async function installCommit(commit: string, directory: string): Promise<string> {
  await run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).catch(() => {
    throw new Error(`the commit ${commit} is missing: fetch the full history with git fetch --unshallow`);
  });
  const source = path.join(directory, "source");
  const prefix = path.join(directory, "prefix");
  for (const folder of [source, prefix]) await mkdir(folder);
  const archive = path.join(directory, "source.tar");
  await run("git", ["archive", "--format=tar", `--output=${archive}`, commit], { cwd: root });
  await run("tar", ["-xf", archive, "-C", source]);
  // Both versions are built with the packages of this checkout.
  await symlink(path.join(root, "node_modules"), path.join(source, "node_modules"));
  const options = { maxBuffer: maximumOutputBytes, env: withoutNpmSettings() };
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", directory], { cwd: source, ...options });
  const [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [{ filename: string }];
  await writeFile(path.join(prefix, "package.json"), "{}");
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund", path.join(directory, packed.filename)];
  await run("npm", install, { cwd: prefix, ...options });
  return path.join(prefix, "node_modules/runtimectl/bin/runtimed.js");
}

/** Variables that npm sets for the scripts that it runs, such as the folder of the package. */
const settingsOfRun = /^npm_(package|lifecycle|command|config_local_prefix)/;

function withoutNpmSettings(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settingsOfRun.test(name)));
}
