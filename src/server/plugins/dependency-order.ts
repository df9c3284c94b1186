import type { InstalledPlugin } from "../packages/plugin-catalog.js";

/** The plugins that may be loaded, each behind those that it depends on; and the others, with the reason. */
export interface DependencyOrder {
  readonly order: readonly InstalledPlugin[];
  readonly failures: ReadonlyMap<string, string>;
}

/** Those whose dependencies do not decide keep the order that they come in. `absent` says why a name cannot be depended on. */
export function dependencyOrder(plugins: readonly InstalledPlugin[], absent: (name: string) => string): DependencyOrder {
  const failures = new Map<string, string>();
  const waiting = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  for (let hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (const plugin of waiting.values()) {
      const missing = plugin.manifest.dependencies.find((name) => !waiting.has(name));
      if (missing === undefined) continue;
      waiting.delete(plugin.name);
      failures.set(plugin.name, reasonOf(missing, failures, absent));
      hasChanged = true;
    }
  }
  const order: InstalledPlugin[] = [];
  const placed = new Set<string>();
  const isReady = (plugin: InstalledPlugin) => dependenciesOf(plugin).every((name) => placed.has(name) || !waiting.has(name));
  for (let next = find(waiting, isReady); next; next = find(waiting, isReady)) {
    order.push(next);
    placed.add(next.name);
    waiting.delete(next.name);
  }
  for (const plugin of waiting.values()) failures.set(plugin.name, circleOf(plugin, waiting));
  return { order, failures };
}

function dependenciesOf({ manifest }: InstalledPlugin): string[] {
  return [...manifest.dependencies, ...manifest.optionalDependencies];
}

function find(plugins: ReadonlyMap<string, InstalledPlugin>, isWanted: (plugin: InstalledPlugin) => boolean): InstalledPlugin | undefined {
  for (const plugin of plugins.values()) if (isWanted(plugin)) return plugin;
  return undefined;
}

function reasonOf(missing: string, failures: ReadonlyMap<string, string>, absent: (name: string) => string): string {
  return `It needs the plugin ${missing}, which ${failures.has(missing) ? "cannot be loaded" : absent(missing)}.`;
}

/** Follows the dependencies that are left until one comes again. */
function circleOf(plugin: InstalledPlugin, waiting: ReadonlyMap<string, InstalledPlugin>): string {
  const path: string[] = [];
  let current: InstalledPlugin | undefined = plugin;
  while (current && !path.includes(current.name)) {
    path.push(current.name);
    current = dependenciesOf(current).flatMap((name) => waiting.get(name) ?? [])[0];
  }
  if (!current) return "It depends on plugins that depend on each other in a circle.";
  const circle = [...path.slice(path.indexOf(current.name)), current.name];
  const isPart = circle.includes(plugin.name);
  return `${isPart ? "It is part of a circle of dependencies" : "It depends on a circle of dependencies"}: ${circle.join(" → ")}.`;
}
