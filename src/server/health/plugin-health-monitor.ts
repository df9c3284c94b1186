import type { NewEvent } from "../events/runtime-events.js";
import type { PluginHealth, PluginState, PluginStatus } from "../../shared/contract/plugins.js";
import type { LastError } from "../../shared/contract/worker-health.js";
import { parseError } from "./error-position.js";
import type { HealthRecords } from "./health-records.js";

const checkEveryMs = 5000;

interface Installed {
  readonly name: string;
  readonly version: string;
}

/** The load status of a plugin. `error`: the load error, or a summary of failed hooks. `hookFailure.atMs`: Unix time in milliseconds. */
interface Status {
  readonly status: PluginStatus;
  readonly error?: string;
  readonly hookFailure?: { readonly message: string; readonly position: string | undefined; readonly atMs: number };
}

interface PluginHealthSources<Plugin extends Installed> {
  /** Returns the installed plugins, as they are on the disk. */
  readonly discover: () => readonly Plugin[];
  readonly statusOf: (plugin: Plugin) => Status;
  readonly publish: (event: NewEvent) => void;
  /** The states that the daemon stored before its last stop. */
  readonly records: Pick<HealthRecords, "plugins" | "put" | "retain">;
  /** Returns Unix time in milliseconds. */
  readonly now: () => number;
}

/**
 * A state of a plugin, and the Unix time in milliseconds at which it began. `isSinceStart`: the state began at an unknown time before
 * `sinceMs`, because it already existed when the daemon started.
 */
interface KnownState {
  readonly state: PluginState;
  readonly sinceMs: number;
  readonly isSinceStart: boolean;
}

/** Computes the state of each plugin, and publishes the event `plugin.health` when a state changes. */
export class PluginHealthMonitor<Plugin extends Installed> {
  readonly #sources: PluginHealthSources<Plugin>;
  /** The current state of each plugin, by plugin name. */
  readonly #states = new Map<string, KnownState>();
  /** Loaded plugins. The timer checks only loaded plugins, because the state of other plugins changes only with a reload. */
  #loaded: readonly Plugin[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(sources: PluginHealthSources<Plugin>) {
    this.#sources = sources;
  }

  /** Starts a timer that checks the state of each loaded plugin every 5 s. */
  start(): void {
    this.#timer = setInterval(() => {
      for (const plugin of this.#loaded) this.of(plugin);
    }, checkEveryMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Computes the states of all installed plugins. The daemon must call this method after each reload of the plugins. */
  check(): void {
    const installed = this.#sources.discover();
    for (const name of this.#states.keys()) if (!installed.some((plugin) => plugin.name === name)) this.#states.delete(name);
    for (const plugin of installed) this.of(plugin);
    this.#sources.records.retain("plugins", (name) => this.#states.has(name));
    this.#loaded = installed.filter((plugin) => this.#sources.statusOf(plugin).status === "loaded");
  }

  /** Returns the health of an installed plugin. If the plugin's state has changed, publishes the change. */
  of(plugin: Plugin): PluginHealth {
    const status = this.#sources.statusOf(plugin);
    const state = stateOf(status);
    const before = this.#states.get(plugin.name);
    const current = before?.state === state ? before : this.#begin(plugin, state, before === undefined);
    const reason = status.status === "waiting" ? "The plugin changed on disk. Reload the plugins to load it." : status.error;
    if (current !== before) {
      this.#states.set(plugin.name, current);
      const { name, version } = plugin;
      // The first known state of a plugin is not a change, so the monitor publishes no event.
      if (before) this.#sources.publish({ type: "plugin.health", subject: { name, version }, state, message: reason ?? state });
    }
    const lastError = errorOf(status, current.sinceMs);
    return {
      state,
      since: Math.floor(current.sinceMs / 1000),
      ...(current.isSinceStart && { isSinceStart: true }),
      ...(reason !== undefined && { reason }),
      ...(lastError && { lastError }),
    };
  }

  /**
   * Returns a new state, and stores it. If the first state after the start of the daemon equals the stored state, keeps the stored start
   * time.
   */
  #begin({ name, version }: Plugin, state: PluginState, isFirst: boolean): KnownState {
    const { records, now } = this.#sources;
    const stored = isFirst ? records.plugins.get(name) : undefined;
    const continued = stored?.state === state && stored.version === version ? stored : undefined;
    const begun = {
      state,
      sinceMs: continued?.sinceMs ?? now(),
      isSinceStart: continued ? continued.isSinceStart === true : isFirst && this.#timer === undefined && state !== "ok",
    };
    records.put("plugins", name, state === "ok" ? undefined : { version, ...begun });
    return begun;
  }
}

function stateOf({ status, error }: Status): PluginState {
  if (status === "disabled") return "disabled";
  if (status === "failed") return "failing";
  return status === "waiting" || error !== undefined ? "degraded" : "ok";
}

/**
 * Returns the error of the last failed hook. Without a failed hook, returns the load error. `sinceMs`: Unix time in milliseconds of the
 * load error.
 */
function errorOf({ status, error, hookFailure }: Status, sinceMs: number): LastError | undefined {
  if (hookFailure) {
    const { message, position, atMs } = hookFailure;
    return parseError(position === undefined ? message : `${message} (${position})`, Math.floor(atMs / 1000));
  }
  return status === "failed" && error !== undefined ? parseError(error, Math.floor(sinceMs / 1000)) : undefined;
}
