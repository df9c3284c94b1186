import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const directory = fileURLToPath(new URL("../", import.meta.url));
const require = createRequire(new URL("../package.json", import.meta.url));

/** Installs the baseline packages if they are missing or differ from the lock file. Their install scripts are not needed and never run. */
export function installPeerPackages() {
  if (isInstalled()) return;
  console.error("installing what the bench compares with (bench/package.json) …");
  const { status, stderr } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: directory, encoding: "utf8", timeout: 300_000 });
  // After a failure, rows that need these packages report the failure. All other rows are still measured.
  if (status !== 0) console.error(`npm ci failed in bench/: ${stderr}`);
}

function isInstalled() {
  const record = new URL("../node_modules/.package-lock.json", import.meta.url);
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, "utf8")).packages;
  const { dependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return Object.entries(dependencies).every(([name, version]) => installed[`node_modules/${name}`]?.version === version);
}

/** Returns the path of a program in one of the packages below. Undefined if there is no program for this machine. */
export function peerProgram(name) {
  const platform = `${process.platform}-${process.arch}`;
  const file = programs[name]?.[platform];
  if (file === undefined) return undefined;
  try {
    return require.resolve(file);
  } catch {
    return undefined;
  }
}

export function hasPackage(name) {
  return existsSync(new URL(`../node_modules/${name}/package.json`, import.meta.url));
}

export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
}

/** The packages that contain the programs, by platform. The packages `bun`, `deno` and `workerd` only select one of them. */
const programs = {
  bun: {
    "linux-x64": "@oven/bun-linux-x64/bin/bun",
    "linux-arm64": "@oven/bun-linux-aarch64/bin/bun",
    "darwin-x64": "@oven/bun-darwin-x64/bin/bun",
    "darwin-arm64": "@oven/bun-darwin-aarch64/bin/bun",
  },
  deno: {
    "linux-x64": "@deno/linux-x64-glibc/deno",
    "linux-arm64": "@deno/linux-arm64-glibc/deno",
    "darwin-x64": "@deno/darwin-x64/deno",
    "darwin-arm64": "@deno/darwin-arm64/deno",
  },
  workerd: {
    "linux-x64": "@cloudflare/workerd-linux-64/bin/workerd",
    "linux-arm64": "@cloudflare/workerd-linux-arm64/bin/workerd",
    "darwin-x64": "@cloudflare/workerd-darwin-64/bin/workerd",
    "darwin-arm64": "@cloudflare/workerd-darwin-arm64/bin/workerd",
  },
};
