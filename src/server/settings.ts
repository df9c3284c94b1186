import { existsSync } from "node:fs";
import { access, constants, statfs } from "node:fs/promises";
import path from "node:path";
import type { Settings, SettingsDirectory } from "../shared/contract/settings.js";
import type { Config } from "./config/config.js";
import { packageVersion } from "./package-root.js";
import type { IsolationLayer } from "./workers/sandbox/isolation-layers.js";

/** Returns the settings with which this daemon runs. Reads the free space of its directories. */
export async function readSettings(config: Config, isolation: readonly IsolationLayer[]): Promise<Settings> {
  const directories: readonly (readonly [kind: SettingsDirectory["kind"], paths: readonly string[]])[] = [
    ["state", [config.stateDirectory]],
    ["data", [config.dataDirectory]],
    ["workers", config.workerDirectories],
    ["plugins", config.pluginDirectories],
  ];
  return {
    version: packageVersion,
    node: process.version,
    startedAt: Math.floor(Date.now() / 1000 - process.uptime()),
    variables: config.variables.map((variable) => ({ ...variable, ...fileOfRootKey(variable.name, config) })),
    directories: await Promise.all(directories.flatMap(([kind, paths]) => paths.map((directory) => describeDirectory(kind, directory)))),
    isolation: isolation.map(({ name, isActive, message }) => ({ name, isActive, message })),
  };
}

/** Returns the source `file` if a file contains the root key. The daemon itself can have created this file in its state directory. */
function fileOfRootKey(name: string, { rootKeyFile }: Config): { source?: "file" } {
  return name === "RUNTIME_ROOT_KEY" && rootKeyFile !== undefined ? { source: "file" } : {};
}

async function describeDirectory(kind: SettingsDirectory["kind"], directory: string): Promise<SettingsDirectory> {
  const existing = nearestExisting(directory);
  const { bavail, blocks, bsize } = await statfs(existing);
  // Checks the parent of a missing data directory, because the daemon creates the directory when the first worker needs it.
  const isWritable = await access(kind === "data" ? existing : directory, constants.W_OK).then(
    () => true,
    () => false,
  );
  return { kind, path: directory, freeBytes: bavail * bsize, totalBytes: blocks * bsize, isWritable };
}

function nearestExisting(directory: string): string {
  return existsSync(directory) ? directory : nearestExisting(path.dirname(directory));
}
