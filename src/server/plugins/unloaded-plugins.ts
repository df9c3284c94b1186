import type { LoadedPlugin, PluginStatus, ReloadedPlugin } from "../../shared/contract/plugins.js";
import type { InstalledPlugin } from "./installed-plugin.js";

/** Stands where the plugins at work will be: it loads none, and says so. */
export class UnloadedPlugins {
  readonly #discover: () => InstalledPlugin[];

  constructor(options: { discover: () => InstalledPlugin[] }) {
    this.#discover = options.discover;
  }

  async reload(_options: { fresh: boolean }): Promise<ReloadedPlugin[]> {
    return this.#discover().map((plugin) => {
      const error = plugin.problem ?? (plugin.enabled ? "This daemon does not load plugins yet." : undefined);
      return { name: plugin.name, version: plugin.version, loaded: false, ...(error === undefined ? {} : { error }) };
    });
  }

  statusOf({ enabled, problem }: InstalledPlugin): { status: PluginStatus; error?: string } {
    if (!enabled) return { status: "disabled" };
    return problem === undefined ? { status: "waiting" } : { status: "failed", error: problem };
  }

  loaded(): LoadedPlugin[] {
    return [];
  }
}
