import { realDirectory } from "../platform/real-directory.js";
import path from "node:path";
import { ConfigError } from "./config-error.js";
import { valueOf, type Environment } from "./config-variables.js";

/** Absolute paths of the directories that the daemon writes to. */
export interface Directories {
  readonly stateDirectory: string;
  /** Directory that contains the data folders of workers. */
  readonly dataDirectory: string;
  readonly workerDirectories: readonly string[];
  readonly pluginDirectories: readonly string[];
}

/**
 * Returns the directories of the daemon from the environment variables. Throws ConfigError if workers and plugins share a directory, also
 * through a symbolic link. Each package directory has one lock and one journal.
 */
export function readDirectories(environment: Environment, cwd: string): Directories {
  const directories = (name: string) =>
    valueOf(environment, name)
      .split(":")
      .filter((entry) => entry !== "")
      .map((entry) => path.resolve(cwd, entry));
  const stateDirectory = path.resolve(cwd, valueOf(environment, "RUNTIME_STATE_DIR"));
  const dataDirectory = valueOf(environment, "RUNTIME_DATA_DIR") || path.join(path.dirname(stateDirectory), "data");
  const workerDirectories = directories("RUNTIME_WORKER_DIRS");
  const pluginDirectories = directories("RUNTIME_PLUGIN_DIRS");
  const realPaths = new Set(workerDirectories.map(realDirectory));
  if (pluginDirectories.some((directory) => realPaths.has(realDirectory(directory))))
    throw new ConfigError(
      "RUNTIME_PLUGIN_DIRS",
      valueOf(environment, "RUNTIME_PLUGIN_DIRS"),
      "directories other than those of RUNTIME_WORKER_DIRS",
    );
  return { stateDirectory, dataDirectory: path.resolve(cwd, dataDirectory), workerDirectories, pluginDirectories };
}
