import { existsSync } from "node:fs";
import path from "node:path";
import type { Plugin } from "../../plugin/index.js";
import { nearestWord } from "../../shared/nearest-word.js";
import { usualPluginEntries } from "../../shared/plugin-manifest.js";
import type { InstalledPlugin } from "../packages/installed-plugin.js";
import { lifeTimeLimitMs, withinTimeLimit } from "./time-limit.js";

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
