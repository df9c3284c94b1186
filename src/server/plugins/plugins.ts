import type { LoadedPlugin, PluginStatus, ReloadedPlugin } from "../../shared/contract/plugins.js";
import type { ServerInfo, WorkerEvent } from "../../plugin/index.js";
import type { ActivePlugin, PluginApp, RunningPlugin } from "./plugin-instance.js";
import type { ReservedSegments } from "./base-claims.js";
import { ApiError } from "../../shared/api-error.js";
import type { InstalledPlugin, StagedPlugin } from "../packages/plugin-catalog.js";
import { endPlugin, type PluginSurroundings } from "./plugin-loader.js";
import { PluginSetBuilder } from "./plugin-set-builder.js";
import type { PluginCode } from "./plugin-code.js";
import { PluginSet } from "./plugin-set.js";
import { hookTimeLimitMs, lifeTimeLimitMs, withinTimeLimit, type HookFailure } from "./hooks.js";

export interface PluginsOptions extends PluginSurroundings {
  /**
   * Returns the installed plugins in the default order of loading. If `upload` is set, the result contains the upload as if it was already
   * installed.
   */
  readonly discover: (upload?: StagedPlugin) => InstalledPlugin[];
  readonly code: PluginCode;
  readonly reserved: ReservedSegments;
  /** Called after a plugin was unloaded. */
  readonly onGone: (name: string) => void;
  /** Called after the daemon has replaced the plugin set. */
  readonly onReplaced: () => void;
  /** Called when the daemon no longer serves the worker of a plugin. */
  readonly onAppGone: (app: PluginApp) => void;
}

/** Loads and reloads plugins, replaces them as one set, and calls their event hooks. */
export class Plugins {
  readonly #options: PluginsOptions;
  #running: readonly RunningPlugin[] = [];
  #set = new PluginSet([]);
  #failures: ReadonlyMap<string, string> = new Map();
  #lastReload: Promise<unknown> = Promise.resolve();
  #server: ServerInfo | undefined;
  #isClosing = false;

  constructor(options: PluginsOptions) {
    this.#options = options;
  }

  /** The current plugin set. Each request must read this field once, because a reload replaces the set. */
  get set(): PluginSet {
    return this.#set;
  }

  /**
   * Reads the plugin directories and replaces the plugin set. Only one reload runs at a time. `isFresh` returns whether an unchanged plugin
   * is created again. If the reload throws, the set stays unchanged.
   */
  reload({ isFresh }: { isFresh: (name: string) => boolean }): Promise<ReloadedPlugin[]> {
    return this.#inTurn(() => this.#reload(isFresh));
  }

  /**
   * Loads an upload, calls `place` to move it to its folder, and replaces the plugin set. If the upload fails to load and an earlier upload
   * is loaded, throws PLUGIN_LOAD_FAILED. After an error, nothing has changed.
   */
  install(upload: StagedPlugin, place: () => Promise<void>): Promise<void> {
    return this.#inTurn(() => this.#install(upload, place));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#lastReload.then(work);
    this.#lastReload = done.catch(() => undefined);
    return done;
  }

  /** Returns the status of a plugin. `hookFailure` is the plugin's last failed hook. It is set only for 10 minutes after the failure. */
  statusOf({ name, enabled, problem }: InstalledPlugin): { status: PluginStatus; error?: string; hookFailure?: HookFailure } {
    const running = this.#running.find(({ active }) => active.name === name);
    if (running) {
      const { summary: error, last: hookFailure } = running.active.failures;
      return error === undefined || !hookFailure ? { status: "loaded" } : { status: "loaded", error, hookFailure };
    }
    if (!enabled) return { status: "disabled" };
    const error = problem ?? this.#failures.get(name);
    return error === undefined ? { status: "waiting" } : { status: "failed", error };
  }

  /** Returns the loaded plugins in the order in which their hooks run. */
  loaded(): LoadedPlugin[] {
    return this.#set.plugins.map(({ name, base = "", installed: { manifest } }) => {
      const { dependencies, optionalDependencies, menus } = manifest;
      return { name, base, dependencies, optionalDependencies, menus };
    });
  }

  /** Calls `onServerStart` of all plugins when the daemon listens. Plugins that are loaded later receive this call after their start. */
  async serverStarted(server: ServerInfo): Promise<void> {
    this.#server = server;
    for (const running of this.#running) await notify(running, "onServerStart", server);
  }

  workerSpawned(event: WorkerEvent): void {
    for (const running of this.#running) void notify(running, "onWorkerSpawn", event);
  }

  workerTerminated(event: WorkerEvent): void {
    for (const running of this.#running) void notify(running, "onWorkerTerminate", event);
  }

  /** Shuts down all plugins within 30 s, each before its dependencies. Reloads that still wait have no effect. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#lastReload;
    const ending = this.#running;
    this.#running = [];
    this.#set = new PluginSet([]);
    await withinTimeLimit(endAll(ending), lifeTimeLimitMs, "the shutdown of the plugins").catch((error: unknown) =>
      this.#options.log.warn({ err: error }, "plugin shutdown timed out; remaining plugins are stopped with the process"),
    );
  }

  async #reload(isFresh: (name: string) => boolean): Promise<ReloadedPlugin[]> {
    if (this.#isClosing) return [];
    const installed = this.#options.discover();
    const next = this.#builder(this.#running, isFresh);
    await next.build(installed);
    await this.#replace(next);
    return installed.map(({ name, version, enabled, problem }) => {
      const loaded = next.running.some(({ active }) => active.name === name);
      const error = enabled ? (next.failures.get(name) ?? problem) : undefined;
      return { name, version, loaded, ...(loaded || error === undefined ? {} : { error }) };
    });
  }

  async #install(upload: StagedPlugin, place: () => Promise<void>): Promise<void> {
    const next = this.#builder(this.#running, isNever);
    try {
      await next.build(this.#options.discover(upload));
      if (this.#isClosing) throw new ApiError("NOT_READY", "The daemon is stopping. Nothing changed.");
      this.#assertLoaded(upload, next);
      await place();
    } catch (error) {
      await endAll(next.running.filter((running) => !this.#running.includes(running)));
      this.#running = this.#running.filter((running) => !next.ended.has(running));
      // Starts the previous plugins again, because the builder can have shut down some of them.
      await this.#reload(isNever);
      throw error;
    }
    await this.#replace(next);
  }

  /**
   * Throws if the upload failed to load and would replace a loaded plugin. The hooks of that plugin would otherwise no longer check
   * requests.
   */
  #assertLoaded({ name, metadata }: StagedPlugin, { failures }: PluginSetBuilder): void {
    const reason = failures.get(name);
    const earlier = this.#running.find(({ active }) => active.name === name);
    if (reason === undefined || !earlier) return;
    this.#options.log.warn({ plugin: name, reason }, "plugin upload rejected because it failed to load; upload a repaired version");
    const what = `${name} ${metadata?.version ?? ""}`.trim();
    const kept = `Nothing changed: ${name} ${earlier.active.installed.version} is still loaded.`;
    throw new ApiError("PLUGIN_LOAD_FAILED", `${what} failed to load: ${/[.!?]$/.test(reason) ? reason : `${reason}.`} ${kept}`);
  }

  #builder(before: readonly RunningPlugin[], isFresh: (name: string) => boolean): PluginSetBuilder {
    return new PluginSetBuilder({
      ...this.#options,
      before,
      isFresh,
      current: (name) => providedBy(this.#running, name),
      isClosing: () => this.#isClosing,
    });
  }

  async #replace(next: PluginSetBuilder): Promise<void> {
    const { log, code } = this.#options;
    const before = this.#running;
    this.#set = new PluginSet(next.running.map(({ active }) => active));
    this.#running = next.running;
    this.#failures = next.failures;
    for (const [plugin, reason] of next.failures) log.error({ plugin, reason }, "plugin failed to load");
    const arrived = next.running.filter((running) => !before.includes(running));
    for (const running of arrived) {
      log.info({ plugin: running.active.name, version: running.active.installed.version }, "plugin loaded");
      if (this.#server) await notify(running, "onServerStart", this.#server);
    }
    const gone = before.filter((running) => !next.running.includes(running));
    await endAll(gone.filter((running) => !next.ended.has(running)));
    for (const { active } of gone) this.#noteGone(active);
    await code.keep(new Set(next.running.flatMap(({ codeHash }) => codeHash ?? [])));
    this.#options.onReplaced();
  }

  #noteGone({ name, app }: ActivePlugin): void {
    const next = this.#set.plugins.find((plugin) => plugin.name === name);
    if (!next) this.#options.onGone(name);
    if (app && (next?.app?.folder !== app.folder || next.app.generation !== app.generation)) this.#options.onAppGone(app);
  }
}

function isNever(): boolean {
  return false;
}

function providedBy(running: readonly RunningPlugin[], name: string): unknown {
  return running.find(({ active }) => active.name === name)?.provided;
}

type NotificationHook = "onServerStart" | "onWorkerSpawn" | "onWorkerTerminate";

async function notify<Hook extends NotificationHook>(
  { active }: RunningPlugin,
  hook: Hook,
  event: Parameters<NonNullable<PluginHooks[Hook]>>[0],
): Promise<void> {
  const { hooks, complain } = active;
  try {
    await withinTimeLimit((hooks[hook] as ((event: unknown) => unknown) | undefined)?.call(hooks, event), hookTimeLimitMs, hook);
  } catch (error) {
    complain(hook, error);
  }
}

type PluginHooks = RunningPlugin["active"]["hooks"];

async function endAll(plugins: readonly RunningPlugin[]): Promise<void> {
  for (const running of plugins.toReversed()) await endPlugin(running);
}
