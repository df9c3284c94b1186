import type { Client } from "../../../shared/client.js";
import type { Plugin } from "../../../shared/contract/plugins.js";
import { pluralize } from "../../output/format.js";
import type { Action, Outcome } from "./action.js";
import { pluginRemovalText } from "../../../shared/plugin-source.js";
import { fitted } from "../terminal/fitted.js";

export const togglePlugin: Action<PluginTarget> = {
  id: "plugins.toggle",
  line: ({ plugin: { name, enabled } }) => `runtimectl plugins ${enabled ? "disable" : "enable"} ${name}`,
  permission: "plugins:install",
  confirmation: ({ plugin: { name, enabled } }, isProduction) =>
    isProduction ? { consequence: `${enabled ? "Disable" : "Enable"} the plugin ${name}` } : undefined,
  run: (client, { plugin: { name, enabled } }) => setEnabled(client, name, !enabled),
  undo: (client, { plugin: { name, enabled } }) => setEnabled(client, name, enabled),
};
export const deletePlugin: Action<PluginTarget> = {
  id: "plugins.delete",
  line: ({ plugin: { name } }) => `runtimectl plugins delete ${name}`,
  permission: "plugins:remove",
  refusal: ({ plugin: { name, removable } }) => (removable ? undefined : `${name} is built in: it can be disabled, but not deleted`),
  confirmation: ({ plugin, neededBy }) => ({
    consequence:
      `Delete ${pluginRemovalText(plugin, `${plugin.name} ${plugin.version}`)} permanently` +
      (neededBy.length === 0 ? "" : `; plugins that depend on it: ${neededBy.join(", ")}`),
    name: plugin.name,
  }),
  run: async (client, { plugin: { name } }) => {
    await client.plugins.remove({ params: { name } });
    return `${name} deleted`;
  },
};
/** Reloads all plugins, whichever item is selected. */
export const reloadPlugins: Action<unknown> = {
  id: "plugins.reload",
  line: () => "runtimectl plugins reload",
  permission: "plugins:install",
  doing: "reloading all plugins",
  run: async (client) => {
    const before = await client.plugins.list();
    const { plugins } = (await client.plugins.reload()).data;
    const loadedCount = plugins.filter(({ loaded }) => loaded).length;
    return {
      text: `${loadedCount} of ${pluralize(plugins.length, "plugin")} loaded`,
      isWarning: plugins.some(({ error }) => error !== undefined),
      lines: reloadLines(before, await client.plugins.list()),
    };
  },
};
const nameWidth = 28;
const stateWidth = 16;

/** A plugin, with the plugins that depend on it. */
export interface PluginTarget {
  readonly plugin: Plugin;
  /** Names of loaded plugins that depend on this plugin. */
  readonly neededBy: readonly string[];
}

async function setEnabled(client: Client, name: string, isEnabled: boolean): Promise<Outcome> {
  const { data } = await client.plugins[isEnabled ? "enable" : "disable"]({ params: { name } });
  const found = (await client.plugins.list()).find((plugin) => plugin.name === name);
  if (found?.status !== "failed") return { text: `${name} is ${data.enabled ? "enabled" : "disabled"}` };
  return { text: `${name} is enabled, but failed to load: ${found.error ?? "see the daemon's log"}`, isWarning: true };
}

/** Returns the lines of a table with each plugin: version and state before and after a reload, and the load error. */
function reloadLines(before: readonly Plugin[], after: readonly Plugin[]): string[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].toSorted();
  const rows = names.flatMap((name) => {
    const now = after.find((plugin) => plugin.name === name);
    const row = line(
      name,
      stateOf(
        before.find((plugin) => plugin.name === name),
        "not installed",
      ),
      stateOf(now, "not installed"),
    );
    return now?.error === undefined ? [row] : [row, `  ${now.error}`];
  });
  return [line("NAME", "BEFORE", "AFTER"), ...rows];
}

function line(name: string, before: string, after: string): string {
  return `${fitted(name, nameWidth)}  ${fitted(before, stateWidth)}  ${after}`;
}

function stateOf(plugin: Plugin | undefined, otherwise: string): string {
  return plugin === undefined ? otherwise : `${plugin.version} ${plugin.status}`;
}
