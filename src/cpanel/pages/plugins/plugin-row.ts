import type { LoadedPlugin, Plugin } from "../../../shared/contract/plugins.js";

/** An installed plugin. If the plugin is loaded, the row contains details from the daemon. */
export interface PluginRow {
  readonly plugin: Plugin;
  /** Details of the loaded plugin. Undefined if the plugin is not loaded. */
  readonly loaded: LoadedPlugin | undefined;
  /** Position of the plugin in the order in which the daemon runs hooks, from 1. If the plugin is not loaded, 0. */
  readonly position: number;
  /** Names of the loaded plugins that require this plugin. */
  readonly neededBy: readonly string[];
}

export function toRows(plugins: readonly Plugin[], loaded: readonly LoadedPlugin[]): PluginRow[] {
  return plugins.map((plugin) => {
    const index = loaded.findIndex(({ name }) => name === plugin.name);
    const neededBy = loaded.filter(({ dependencies }) => dependencies.includes(plugin.name)).map(({ name }) => name);
    return { plugin, loaded: loaded[index], position: index + 1, neededBy };
  });
}
