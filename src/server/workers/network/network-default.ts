import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { networkModes, type NetworkMode } from "../../config/worker-network.js";

/** File in the state directory that stores the network mode, which applies if RUNTIME_WORKER_NETWORK is not set. */
const fileName = "worker-network";
const modeOfNewInstallations: NetworkMode = "public";
/** Network mode for installations that are older than RUNTIME_WORKER_NETWORK, because their workers may rely on full network access. */
const modeOfOldInstallations: NetworkMode = "all";

/**
 * Returns the network mode that applies without RUNTIME_WORKER_NETWORK. Stores `public` for a new installation, whose state directory
 * contains only `newFiles`. `isChosen` is false if no mode is stored.
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
