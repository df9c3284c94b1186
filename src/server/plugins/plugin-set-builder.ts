import { HookFailures, lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import type { ActivePlugin, RunningPlugin } from "./plugin-instance.js";
import { BaseClaims, type ReservedSegments } from "./base-claims.js";
import { dependencyOrder } from "./dependency-order.js";
import {
  describeError,
  endPlugin,
  createPluginContext,
  exportOf,
  findPluginEntry,
  makePlugin,
  type PluginSurroundings,
} from "./plugin-loader.js";
import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import type { PluginCode } from "./plugin-code.js";
import { ServerRoutes } from "./server-routes.js";

/** How often a folder is read that changes meanwhile. */
const mostReadings = 5;

export interface PluginSetBuilderOptions extends PluginSurroundings {
  readonly code: PluginCode;
  readonly reserved: ReservedSegments;
  /** What is at work while the next set is built. */
  readonly before: readonly RunningPlugin[];
  /** Whether a plugin is made again though it did not change. */
  readonly isFresh: (name: string) => boolean;
  /** What a plugin that is at work provides, at any later time. */
  readonly current: (name: string) => unknown;
  /** True once nothing more is to be loaded, since all is about to end. */
  readonly isClosing: () => boolean;
}

/** The set of plugins that is built aside: keeps what did not change, loads and initialises the rest, leaves out what fails. */
export class PluginSetBuilder {
  readonly running: RunningPlugin[] = [];
  /** Why plugins are left out, as sentences. */
  readonly failures = new Map<string, string>();
  /** Instances of before that were ended already, since there is only one object of them. */
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
        this.failures.set(plugin.name, this.#options.code.withoutPaths(describeError(error)));
      }
    }
  }

  /** Who has a base keeps it: another plugin cannot take it away by its place in the order. Returns those that got theirs. */
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

  /** An upload may replace the folder while it is read: the plugin that was at work must not be missing until that has its own reload. */
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
    const { name, manifest, folder } = plugin;
    const failed = manifest.dependencies.find((dependency) => !this.#find(dependency));
    if (failed !== undefined) throw new Error(`It needs the plugin ${failed}, which cannot be loaded.`);
    const before = this.#options.before.find(({ active }) => active.name === name);
    const entry = findPluginEntry(plugin);
    if (entry === undefined && plugin.app === undefined)
      throw new Error("It has neither a module (plugin.js, index.js) nor an entrypoint.");
    const codeHash = await this.#options.code.hashOf(name, folder);
    if (before && this.#mayStay(before, plugin, codeHash)) return before;
    return await this.#start(plugin, { entry, codeHash, before });
  }

  #mayStay(before: RunningPlugin, plugin: InstalledPlugin, codeHash: string): boolean {
    const { installed } = before.active;
    const isSame = before.codeHash === codeHash && installed.manifestHash === plugin.manifestHash && installed.folder === plugin.folder;
    const hasSameDependencies = [...before.dependencies].every(([name, instance]) => this.#find(name) === instance);
    // An object is the same one however often its module is asked for.
    return isSame && hasSameDependencies && !(before.isMade && this.#options.isFresh(plugin.name));
  }

  async #start(
    plugin: InstalledPlugin,
    { entry, codeHash, before }: { entry: string | undefined; codeHash: string; before: RunningPlugin | undefined },
  ): Promise<RunningPlugin> {
    const { code, log } = this.#options;
    // When a plugin never returns, the daemon stops here, and this is the last entry of its log.
    if (entry !== undefined) log.info({ plugin: plugin.name, folder: plugin.folder }, "loading a plugin");
    const exported =
      entry === undefined ? {} : exportOf(await code.load({ name: plugin.name, folder: plugin.folder, hash: codeHash, entry }));
    const hooks = await makePlugin(exported, plugin.config);
    const active = this.#activate(plugin, hooks, codeHash);
    if (before?.active.hooks === hooks) {
      // One object cannot be two instances: it is ended and begun again, in its place.
      this.ended.add(before);
      await endPlugin(before);
    }
    const { dependencies, optionalDependencies } = plugin.manifest;
    const provided = (name: string) => this.#find(name)?.provided ?? this.#options.current(name);
    const context = createPluginContext(plugin, this.#options, provided);
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
      // What it has opened would stay open, and be opened once more at each reload.
      await endPlugin({ active });
      throw error;
    }
  }

  #activate(plugin: InstalledPlugin, hooks: ActivePlugin["hooks"], codeHash: string): ActivePlugin {
    const { name, version, manifest, app } = plugin;
    const { log } = this.#options;
    const routes = hooks.server?.routes && new ServerRoutes(hooks.server.routes);
    const refusal = routes && this.#claims.refusal(name, routes);
    if (refusal !== undefined) throw new Error(refusal);
    if (hooks.routes && manifest.base === undefined) throw new Error("It has routes, but its manifest names no base for them.");
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
      complain: (hook, error) => {
        failures.note(hook, error);
        log.error({ plugin: name, hook, err: error }, "a hook of a plugin failed");
      },
    };
  }

  #find(name: string): RunningPlugin | undefined {
    return this.running.find(({ active }) => active.name === name);
  }
}

function absenceOf(plugin: InstalledPlugin | undefined): string {
  if (!plugin) return "is not installed";
  return plugin.enabled ? "cannot be loaded" : "is disabled";
}
