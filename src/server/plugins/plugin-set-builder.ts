import { HookFailures, lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import type { ActivePlugin, RunningPlugin } from "./plugin-instance.js";
import { BaseClaims, type ReservedSegments } from "./base-claims.js";
import { dependencyOrder } from "./dependency-order.js";
import { endPlugin, createPluginContext, exportOf, findPluginEntry, makePlugin, type PluginSurroundings } from "./plugin-loader.js";
import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import type { PluginCode } from "./plugin-code.js";
import { ServerRoutes } from "./server-routes.js";

/**
 * Maximum number of attempts to read a plugin folder, if the folder changes during each attempt. After the last attempt, the plugin fails
 * to load.
 */
const mostReadings = 5;

export interface PluginSetBuilderOptions extends PluginSurroundings {
  readonly code: PluginCode;
  readonly reserved: ReservedSegments;
  /** The plugins that run while the next plugin set is built. */
  readonly before: readonly RunningPlugin[];
  /** Returns whether the daemon must create an unchanged plugin again. */
  readonly isFresh: (name: string) => boolean;
  /** Returns the value that the plugin's `provides()` returned last. Also works after the plugin set is built. */
  readonly current: (name: string) => unknown;
  /** Returns whether the daemon is stopping. The builder then loads no more plugins. */
  readonly isClosing: () => boolean;
}

/** Builds the next plugin set. Keeps unchanged plugins, loads and initializes all others, and records the plugins that fail. */
export class PluginSetBuilder {
  readonly running: RunningPlugin[] = [];
  /** Error text of each plugin that failed to load, by plugin name. */
  readonly failures = new Map<string, string>();
  /**
   * Running plugins that this builder has shut down before the new plugin set is complete, because their module exports one object for all
   * instances.
   */
  readonly ended = new Set<RunningPlugin>();
  readonly #options: PluginSetBuilderOptions;
  readonly #claims: BaseClaims;

  constructor(options: PluginSetBuilderOptions) {
    this.#options = options;
    this.#claims = new BaseClaims(options.reserved);
  }

  async build(installed: readonly InstalledPlugin[]): Promise<void> {
    const byName = new Map(installed.map((plugin) => [plugin.name, plugin]));
    const wanted = installed.filter(({ enabled, problem }) => enabled && problem === undefined);
    for (const { name, enabled, problem } of installed) if (enabled && problem !== undefined) this.failures.set(name, problem);
    const { order, failures } = dependencyOrder(wanted, (name) => absenceOf(byName.get(name)));
    for (const [name, reason] of failures) this.failures.set(name, reason);
    const claiming = this.#claimBases(order);
    for (const plugin of claiming) {
      if (this.#options.isClosing()) return;
      try {
        this.running.push(await this.#bringWhole(plugin));
      } catch (error) {
        this.#claims.release(plugin.name);
        this.failures.set(plugin.name, this.#options.code.describe(error));
      }
    }
  }

  /**
   * Assigns the base paths. A running plugin keeps its base path, even if a plugin earlier in the order requests the same path. Returns the
   * plugins without a conflict.
   */
  #claimBases(plugins: readonly InstalledPlugin[]): InstalledPlugin[] {
    const { before } = this.#options;
    const isIncumbent = ({ name, manifest }: InstalledPlugin) =>
      before.some(({ active }) => active.name === name && active.base === manifest.base);
    const inTurn = [...plugins.filter(isIncumbent), ...plugins.filter((plugin) => !isIncumbent(plugin))];
    for (const { name, manifest } of inTurn) {
      const refusal = manifest.base === undefined ? undefined : this.#claims.claim(name, manifest.base);
      if (refusal !== undefined) this.failures.set(name, refusal);
    }
    return plugins.filter(({ name }) => !this.failures.has(name));
  }

  /**
   * Loads a plugin or keeps the running plugin. If an upload changes the folder during the read, reads the folder again. Otherwise the
   * daemon would unload the running plugin until the upload's own reload.
   */
  async #bringWhole(plugin: InstalledPlugin): Promise<RunningPlugin> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#bring(plugin);
      } catch (error) {
        if (!this.#options.code.mayReadAgain(error) || attempt === mostReadings) throw error;
      }
    }
  }

  async #bring(plugin: InstalledPlugin): Promise<RunningPlugin> {
    const { name, manifest } = plugin;
    const folder = plugin.stagedFolder ?? plugin.folder;
    const failed = manifest.dependencies.find((dependency) => !this.#find(dependency));
    if (failed !== undefined) throw new Error(`The required plugin ${failed} failed to load.`);
    const before = this.#options.before.find(({ active }) => active.name === name);
    const entry = findPluginEntry({ folder, manifest });
    if (entry === undefined && plugin.app === undefined)
      throw new Error("The plugin has nothing to load: add a module such as plugin.js, or an entrypoint in the manifest.");
    const codeHash = await this.#options.code.hashOf(name, folder);
    if (before && this.#mayStay(before, plugin, codeHash)) return before;
    return await this.#start(plugin, { folder, entry, codeHash, before });
  }

  #mayStay(before: RunningPlugin, plugin: InstalledPlugin, codeHash: string): boolean {
    const { installed } = before.active;
    const isSame = before.codeHash === codeHash && installed.manifestHash === plugin.manifestHash && installed.folder === plugin.folder;
    const hasSameDependencies = [...before.dependencies].every(([name, instance]) => this.#find(name) === instance);
    // Creates a plugin again only if a factory function created it. A module that exports an object returns the same object each time.
    return isSame && hasSameDependencies && !(before.isMade && this.#options.isFresh(plugin.name));
  }

  async #start(
    plugin: InstalledPlugin,
    { folder, entry, codeHash, before }: { folder: string; entry: string | undefined; codeHash: string; before: RunningPlugin | undefined },
  ): Promise<RunningPlugin> {
    const { code, log } = this.#options;
    // Logs before the import. If the plugin blocks the daemon, this is the last entry in the log.
    if (entry !== undefined) log.info({ plugin: plugin.name, folder: plugin.folder }, "plugin is loading");
    const exported = entry === undefined ? {} : exportOf(await code.load({ name: plugin.name, folder, hash: codeHash, entry }));
    const hooks = await makePlugin(exported, plugin.config);
    const active = this.#activate(plugin, hooks, codeHash);
    if (before?.active.hooks === hooks) {
      // Shuts down the running plugin before the new plugin is initialized, because both are the same object.
      this.ended.add(before);
      await endPlugin(before);
    }
    const { dependencies, optionalDependencies } = plugin.manifest;
    const context = createPluginContext(plugin, this.#options, readerOfProvided(this.running, this.#options.current));
    try {
      await withinTimeLimit(hooks.onInit?.(context), lifeTimeLimitMs, "onInit");
      return {
        active,
        codeHash,
        isMade: typeof exported === "function",
        dependencies: new Map([...dependencies, ...optionalDependencies].map((name) => [name, this.#find(name)])),
        provided: hooks.provides?.(),
      };
    } catch (error) {
      // Shuts down a plugin that failed during its initialization. Otherwise each reload would leak its resources.
      await endPlugin({ active });
      throw error;
    }
  }

  #activate(plugin: InstalledPlugin, hooks: ActivePlugin["hooks"], codeHash: string): ActivePlugin {
    const { name, version, manifest, app } = plugin;
    const { log, code } = this.#options;
    const routes = hooks.server?.routes && new ServerRoutes(hooks.server.routes);
    const refusal = routes && this.#claims.refusal(name, routes);
    if (refusal !== undefined) throw new Error(refusal);
    if (hooks.routes && manifest.base === undefined)
      throw new Error("The plugin has routes, but its manifest sets no base. Set `base` in the manifest.");
    const failures = new HookFailures();
    return {
      name,
      base: manifest.base,
      installed: plugin,
      hooks,
      routes,
      app: app && {
        name: `plugin:${name}`,
        version,
        folder: plugin.folder,
        generation: `${codeHash} ${plugin.manifestHash}`,
        manifest: app,
      },
      info: Object.freeze({ kind: "plugin", name, version, base: manifest.base ?? "", visibility: app?.visibility ?? "public" }),
      failures,
      // Must not refer to the builder. Otherwise the builder would stay in memory, with all previous plugins.
      complain: (hook, error) => {
        failures.note(hook, error, code.positionOf(error));
        log.error({ plugin: name, hook, err: error }, "plugin hook failed");
      },
    };
  }

  #find(name: string): RunningPlugin | undefined {
    return findIn(this.running, name);
  }
}

function findIn(running: readonly RunningPlugin[], name: string): RunningPlugin | undefined {
  return running.find(({ active }) => active.name === name);
}

/**
 * Returns `getPlugin` of a context. Does not refer to the builder. Otherwise a plugin that keeps its context would also keep all previous
 * plugins in memory.
 */
function readerOfProvided(running: readonly RunningPlugin[], current: (name: string) => unknown): (name: string) => unknown {
  return (name) => findIn(running, name)?.provided ?? current(name);
}

function absenceOf(plugin: InstalledPlugin | undefined): string {
  if (!plugin) return "is not installed";
  return plugin.enabled ? "failed to load" : "is disabled";
}
