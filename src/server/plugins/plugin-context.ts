import type { PluginContext, PluginCounter, PluginLogger, PluginPrincipal } from "../../plugin/index.js";
import type { Log } from "../log/log.js";
import type { InstalledPlugin } from "../packages/installed-plugin.js";

/** What the daemon lets plugins have of its other services. */
export interface PluginSurroundings {
  readonly apiBase: string;
  readonly version: string;
  readonly verify: (request: Request) => PluginPrincipal | undefined;
  readonly counter: (plugin: string, name: string, help: string) => PluginCounter;
  readonly log: Log;
}

/** What `onInit` gets. `provided` gives what another plugin's `provides()` returned. */
export function createPluginContext(
  { name, config }: InstalledPlugin,
  { apiBase, version, verify, counter, log }: PluginSurroundings,
  provided: (name: string) => unknown,
): PluginContext {
  return Object.freeze({
    config,
    logger: createPluginLogger(log, name),
    getPlugin: provided,
    runtime: Object.freeze({ api: apiBase, version }),
    auth: Object.freeze({ verify }),
    metrics: Object.freeze({ counter: (counterName: string, help: string) => counter(name, counterName, help) }),
  });
}

function createPluginLogger(log: Log, plugin: string): PluginLogger {
  const write = (level: "debug" | "info" | "warn" | "error") => (message: string, details?: Readonly<Record<string, unknown>>) =>
    log[level]({ ...details, plugin }, message);
  return Object.freeze({ debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") });
}
