import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { networkModes, type NetworkMode } from "../../config/worker-network.js";

/** File in the state directory that contains the network mode. The mode applies if RUNTIME_WORKER_NETWORK is not set. */
const fileName = "worker-network";
const modeOfNewInstallations: NetworkMode = "public";
/** Network mode of an installation from before RUNTIME_WORKER_NETWORK existed. Its workers possibly need full network access. */
const modeOfOldInstallations: NetworkMode = "all";

/**
 * Returns the network mode that applies without RUNTIME_WORKER_NETWORK. If the state directory contains only `newFiles`, the installation
 * is new, and this function stores the mode `public`. `isChosen` is false if no mode is stored.
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
