import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin, PluginContext, PluginCounter, PluginLogger, PluginPrincipal } from "../../plugin/index.js";
import { nearestWord } from "../../shared/nearest-word.js";
import { usualPluginEntries } from "../../shared/plugin-manifest.js";
import type { InstalledPlugin } from "../packages/plugin-catalog.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./hooks.js";
import type { Log } from "../log/log.js";
import type { RunningPlugin } from "./plugin-instance.js";

const functionHooks = [
  "onInit",
  "onRequest",
  "onResponse",
  "onServerStart",
  "onShutdown",
  "onWorkerSpawn",
  "onWorkerTerminate",
  "provides",
] as const;
const knownKeys: readonly string[] = [...functionHooks, "routes", "server", "onRequestFailOpen"];

/** Maximum length of an error text in lists and logs. */
const longestReason = 1000;

/**
 * Returns the path of the plugin's module, relative to the plugin folder. Returns undefined without a module. A default module name that is
 * the worker's `entrypoint` does not count. Throws if the file in `pluginEntry` is missing.
 */
export function findPluginEntry({ folder, manifest }: Pick<InstalledPlugin, "folder" | "manifest">): string | undefined {
  const { pluginEntry, entrypoint } = manifest;
  if (pluginEntry === undefined) return usualPluginEntries.find((name) => name !== entrypoint && existsSync(path.join(folder, name)));
  if (!existsSync(path.join(folder, pluginEntry))) throw new Error(`the file in pluginEntry, ${pluginEntry}, does not exist`);
  return pluginEntry;
}

/** Returns the default export of a module, otherwise the module itself. */
export function exportOf(module: unknown): unknown {
  return typeof module === "object" && module !== null && "default" in module ? module.default : module;
}

/** Returns the plugin that a module exports or that its factory creates. Throws with a description of the problem. */
export async function makePlugin(exported: unknown, config: InstalledPlugin["config"]): Promise<Plugin> {
  if (typeof exported !== "function") return checked(exported, "the module exports");
  const made: unknown = await withinTimeLimit((exported as (given: unknown) => unknown)(config), lifeTimeLimitMs, "the factory");
  return checked(made, "the factory returned");
}

function checked(value: unknown, what: string): Plugin {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what} ${describe(value)} instead of an object with hooks`);
  const plugin = value as Record<string, unknown>;
  // Rejects a promise that a module exports in place of a plugin, because the promise could stay pending forever.
  if (typeof plugin["then"] === "function") throw new TypeError(`${what} a promise instead of an object with hooks`);
  assertHooks(plugin);
  for (const name of functionHooks) assertKind(plugin[name], "function", name);
  assertKind(plugin["routes"], "object", "routes");
  assertKind(plugin["server"], "object", "server");
  assertKind(plugin["onRequestFailOpen"], "boolean", "onRequestFailOpen");
  const { routes, server } = plugin as { routes?: { fetch?: unknown }; server?: { fetch?: unknown; routes?: unknown } };
  if (routes && typeof routes.fetch !== "function") throw new TypeError("routes has no function fetch");
  assertKind(server?.fetch, "function", "server.fetch");
  assertKind(server?.routes, "object", "server.routes");
  return plugin;
}

/** Throws for a misspelled name of a hook, because the daemon would never call the hook. */
function assertHooks(plugin: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(plugin)) {
    if (!/^on[A-Z]/.test(name) || knownKeys.includes(name)) continue;
    const nearest = nearestWord(name, knownKeys);
    if (nearest !== undefined) throw new TypeError(`${name} is not a hook. Did you mean ${nearest}?`);
  }
}

function assertKind(value: unknown, kind: "function" | "object" | "boolean", name: string): void {
  if (value === undefined) return;
  // Also accepts a function with a method `fetch`, because some routers export one.
  const isObject = kind === "object" && value !== null && (typeof value === "object" || typeof value === "function");
  if (isObject || (kind !== "object" && typeof value === kind)) return;
  throw new TypeError(`${name} is ${describe(value)} instead of ${kind === "object" ? "an" : "a"} ${kind}`);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return `a ${typeof value}`;
}

/** Services of the daemon that plugins can use. */
export interface PluginSurroundings {
  readonly apiBase: string;
  readonly version: string;
  readonly verify: (request: Request) => PluginPrincipal | undefined;
  readonly counter: (plugin: string, name: string, help: string) => PluginCounter;
  readonly log: Log;
}

/** Creates the argument of `onInit`. `provided` returns the value of another plugin's `provides()`. */
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

/** Calls `onShutdown` of a plugin. Never throws. */
export async function endPlugin({ active: { hooks, complain } }: Pick<RunningPlugin, "active">): Promise<void> {
  try {
    await withinTimeLimit(hooks.onShutdown?.(), lifeTimeLimitMs, "onShutdown");
  } catch (error) {
    complain("onShutdown", error);
  }
}

/** Returns the text of any thrown value, without a period at the end. If reading the value throws, returns a general text. */
export function describeError(error: unknown): string {
  try {
    const text = error instanceof Error ? messageOf(error) : `the plugin threw ${String(error)}`;
    return text.slice(0, longestReason).replace(/\.$/, "");
  } catch {
    return "the plugin threw a value that cannot be described";
  }
}

/** Returns the name and the message of an error. Omits the names `Error` and `TypeError`, which tell the reader nothing. */
function messageOf({ name, message }: { name: unknown; message: unknown }): string {
  return name === "Error" || name === "TypeError" ? String(message) : `${String(name)}: ${String(message)}`;
}
