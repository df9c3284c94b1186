import type { LoadedPlugin, Plugin } from "../../../shared/contract/plugins.js";

/** A plugin as it lies on the disk and as it is at work. */
export interface PluginRow {
  readonly plugin: Plugin;
  /** Undefined when it is not at work. */
  readonly loaded: LoadedPlugin | undefined;
  /** Its place in the order of the hooks, from 1; 0 when it is not at work. */
  readonly position: number;
  /** The names of those at work that cannot do without it. */
  readonly neededBy: readonly string[];
}

export function toRows(plugins: readonly Plugin[], loaded: readonly LoadedPlugin[]): PluginRow[] {
  return plugins.map((plugin) => {
    const index = loaded.findIndex(({ name }) => name === plugin.name);
    const neededBy = loaded.filter(({ dependencies }) => dependencies.includes(plugin.name)).map(({ name }) => name);
    return { plugin, loaded: loaded[index], position: index + 1, neededBy };
  });
}
