import path from "node:path";
import { toggledManifest } from "./manifest-fields.js";
import type { PluginFolder } from "./plugin-catalog.js";
import type { PeerChange } from "./transactions/change-log.js";
import { newPath, retireFolder, type Retiring } from "./transactions/install-areas.js";
import type { Transaction } from "./transactions/transaction.js";

interface Following extends Retiring {
  /** Called after another daemon has changed the directory. */
  readonly onElsewhere?: (changes: readonly PeerChange[]) => void;
}

/** Enables or disables a plugin by a change of its own manifest. */
export async function writeFlag(staged: Transaction, { folder }: PluginFolder, enabled: boolean, change: PeerChange): Promise<void> {
  const { filePath, text } = toggledManifest(folder, enabled);
  await staged.writeFile(filePath, text, change, () => undefined);
}

/** Applies the changes that other daemons have made in a directory. */
export function followChanges(options: Following, directory: string, changes: readonly PeerChange[]): void {
  const absolute = (below: string) => path.join(directory, below);
  for (const { folders, edited = [], moved = [] } of changes) {
    const moves = moved.map(({ from, to }) => ({ from: absolute(from), to: absolute(to) }));
    const gone = new Set([...edited.map(absolute), ...folders.map(absolute).filter((folder) => newPath(folder, moves) !== undefined)]);
    for (const folder of gone) void retireFolder(options, folder, newPath(folder, moves));
  }
  options.onElsewhere?.(changes);
}

/** Returns the path of the folder relative to the plugin directory. */
export function folderBelow({ directory, folder }: PluginFolder): string {
  return path.relative(directory.path, folder);
}
