import { existsSync } from "node:fs";
import { keyStoreFiles } from "../access/key-store-mode.js";
import { readDirectories } from "../config/directories.js";

/**
 * Returns the flags that name the directories of a daemon. If `npm start` has run in the folder `root`, the hint contains the directories
 * of that daemon.
 */
export function directoriesHint(root: string): string {
  const { stateDirectory, workerDirectories, pluginDirectories } = readDirectories({}, root);
  if (!Object.values(keyStoreFiles(stateDirectory)).some((file) => existsSync(file)))
    return "set the daemon's directories with --state-dir, --worker-dirs and --plugin-dirs, or with --service";
  return (
    `for the daemon of npm start, add: --state-dir ${stateDirectory} ` +
    `--worker-dirs ${workerDirectories.join(":")} --plugin-dirs ${pluginDirectories.join(":")}`
  );
}
