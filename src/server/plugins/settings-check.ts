import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import type { PluginCode } from "./plugin-code.js";
import { exportOf, findPluginEntry, makePlugin } from "./plugin-loader.js";

/** A plugin as it would be loaded after a change of its settings. */
type Candidate = Pick<InstalledPlugin, "name" | "folder" | "manifest" | "config">;

/**
 * Returns the reason why a built-in plugin rejects its settings, otherwise undefined. Creates an instance and discards it. The factory
 * function of a built-in plugin only reads settings and opens nothing.
 */
export async function settingsProblem(code: PluginCode, { name, folder, manifest, config }: Candidate): Promise<string | undefined> {
  const entry = findPluginEntry({ folder, manifest });
  if (entry === undefined) return undefined;
  try {
    const exported = exportOf(await code.load({ name, folder, hash: await code.hashOf(name, folder), entry }));
    await makePlugin(exported, config);
    return undefined;
  } catch (error) {
    return code.describe(error);
  }
}
