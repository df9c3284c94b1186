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

/** The longest reason that lists and logs carry. */
const longestReason = 1000;

/**
 * The file of a plugin's module, relative to its folder; undefined = it has none. What it serves as its app is no module of its own.
 * Throws when the one that it names is not there.
 */
export function findPluginEntry({ folder, manifest }: InstalledPlugin): string | undefined {
  const { pluginEntry, entrypoint } = manifest;
  if (pluginEntry === undefined) return usualPluginEntries.find((name) => name !== entrypoint && existsSync(path.join(folder, name)));
  if (!existsSync(path.join(folder, pluginEntry))) throw new Error(`its pluginEntry ${pluginEntry} is not there`);
  return pluginEntry;
}

/** What a module exports for us: its default export, else itself. */
export function exportOf(module: unknown): unknown {
  return typeof module === "object" && module !== null && "default" in module ? module.default : module;
}

/** The plugin that a module's export is or makes. Throws with what is wrong with it. */
export async function makePlugin(exported: unknown, config: InstalledPlugin["config"]): Promise<Plugin> {
  if (typeof exported !== "function") return checked(exported, "its module exports");
  const made: unknown = await withinTimeLimit((exported as (given: unknown) => unknown)(config), lifeTimeLimitMs, "its factory");
  return checked(made, "its factory returned");
}

function checked(value: unknown, what: string): Plugin {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what} ${describe(value)}, and not an object with hooks`);
  const plugin = value as Record<string, unknown>;
  // To wait for it could take for ever.
  if (typeof plugin["then"] === "function") throw new TypeError(`${what} a promise, and not an object with hooks`);
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

/** Throws for a misspelt hook: such a plugin would do nothing and count as loaded. */
function assertHooks(plugin: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(plugin)) {
    if (!/^on[A-Z]/.test(name) || knownKeys.includes(name)) continue;
    const nearest = nearestWord(name, knownKeys);
    if (nearest !== undefined) throw new TypeError(`${name} is no hook; did you mean ${nearest}?`);
  }
}

function assertKind(value: unknown, kind: "function" | "object" | "boolean", name: string): void {
  if (value === undefined) return;
  // A Hono app is an object; what other routers export may be a function with a method fetch.
  const isObject = kind === "object" && value !== null && (typeof value === "object" || typeof value === "function");
  if (isObject || (kind !== "object" && typeof value === kind)) return;
  throw new TypeError(`${name} is ${describe(value)}, and not ${kind === "object" ? "an" : "a"} ${kind}`);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  return `a ${typeof value}`;
}

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

/** Has a plugin clean up after itself; never throws. */
export async function endPlugin({ active: { hooks, complain } }: Pick<RunningPlugin, "active">): Promise<void> {
  try {
    await withinTimeLimit(hooks.onShutdown?.(), lifeTimeLimitMs, "onShutdown");
  } catch (error) {
    complain("onShutdown", error);
  }
}

/** Why a plugin is left out, as a sentence for its author. */
export function describeError(error: unknown): string {
  const text = textOf(error);
  const sentence = /[.!?]$/.test(text) ? text : `${text}.`;
  return (sentence[0] ?? "").toUpperCase() + sentence.slice(1, longestReason);
}

/** What is thrown may be anything, and even what cannot be looked at. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? messageOf(error) : `It threw ${String(error)}`;
  } catch {
    return "It threw something that cannot be shown";
  }
}

/** The kinds that say nothing by their name are left out. */
function messageOf({ name, message }: { name: unknown; message: unknown }): string {
  return name === "Error" || name === "TypeError" ? String(message) : `${String(name)}: ${String(message)}`;
}
