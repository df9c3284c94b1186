import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { networkModes, type NetworkMode } from "../../config/worker-network.js";

/** In the state directory: the mode that holds where RUNTIME_WORKER_NETWORK is not set. */
const fileName = "worker-network";
const modeOfNewInstallations: NetworkMode = "public";
/** Workers of an installation from before the variable rely on it. */
const modeOfOldInstallations: NetworkMode = "all";

/**
 * The mode of a daemon without RUNTIME_WORKER_NETWORK, written down by its first start; `isChosen` is false where no start did. An
 * installation is new whose state directory holds nothing but `newFiles`.
 */
export async function defaultNetworkMode(
  stateDirectory: string,
  newFiles: readonly string[] = [],
): Promise<{ mode: NetworkMode; isChosen: boolean }> {
  const file = path.join(stateDirectory, fileName);
  const names = (await readdir(stateDirectory)).filter((name) => !newFiles.includes(name));
  if (names.length === 0) await writeFile(file, `${modeOfNewInstallations}\n`, { mode: 0o600 });
  else if (!names.includes(fileName)) return { mode: modeOfOldInstallations, isChosen: false };
  const text = (await readFile(file, "utf8")).trim();
  return { mode: networkModes.find((mode) => mode === text) ?? modeOfNewInstallations, isChosen: true };
}
