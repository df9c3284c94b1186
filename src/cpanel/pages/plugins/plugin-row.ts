import type { LoadedPlugin, Plugin } from "../../../shared/contract/plugins.js";

/** A plugin as installed and as loaded. */
export interface PluginRow {
  readonly plugin: Plugin;
  /** Undefined when it is not loaded. */
  readonly loaded: LoadedPlugin | undefined;
  /** Position in the order of the hooks, from 1; 0 when it is not loaded. */
  readonly position: number;
  /** Names of the loaded plugins that require it. */
  readonly neededBy: readonly string[];
}

export function toRows(plugins: readonly Plugin[], loaded: readonly LoadedPlugin[]): PluginRow[] {
  return plugins.map((plugin) => {
    const index = loaded.findIndex(({ name }) => name === plugin.name);
    const neededBy = loaded.filter(({ dependencies }) => dependencies.includes(plugin.name)).map(({ name }) => name);
    return { plugin, loaded: loaded[index], position: index + 1, neededBy };
  });
}
