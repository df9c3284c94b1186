import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { networkModes, type NetworkMode } from "../../config/worker-network.js";

/** File in the state directory with the mode that applies without RUNTIME_WORKER_NETWORK. */
const fileName = "worker-network";
const modeOfNewInstallations: NetworkMode = "public";
/** Mode for installations that are older than the variable, because their workers may rely on full network access. */
const modeOfOldInstallations: NetworkMode = "all";

/**
 * Returns the mode that the first start stored and that applies without RUNTIME_WORKER_NETWORK. `isChosen` is false when no start has
 * stored a mode. An installation is new if its state directory contains only `newFiles`.
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
