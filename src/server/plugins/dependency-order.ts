import type { InstalledPlugin } from "../packages/plugin-catalog.js";

/**
 * `order` contains the plugins that can be loaded, each after its dependencies. `failures` contains the error text of each other plugin by
 * name.
 */
export interface DependencyOrder {
  readonly order: readonly InstalledPlugin[];
  readonly failures: ReadonlyMap<string, string>;
}

/**
 * Sorts plugins so that each follows its dependencies. Apart from this, keeps the order. `absent` returns the reason why a dependency is
 * not available.
 */
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
  return `The required plugin ${missing} ${failures.has(missing) ? "failed to load" : absent(missing)}.`;
}

/** Returns an error text about the cycle of dependencies to which the plugin or one of its dependencies belongs. */
function circleOf(plugin: InstalledPlugin, waiting: ReadonlyMap<string, InstalledPlugin>): string {
  const path: string[] = [];
  let current: InstalledPlugin | undefined = plugin;
  while (current && !path.includes(current.name)) {
    path.push(current.name);
    current = dependenciesOf(current).flatMap((name) => waiting.get(name) ?? [])[0];
  }
  if (!current) return "The plugin depends on a dependency cycle.";
  const circle = [...path.slice(path.indexOf(current.name)), current.name];
  const isPart = circle.includes(plugin.name);
  return `${isPart ? "The plugin is part of a dependency cycle" : "The plugin depends on a dependency cycle"}: ${circle.join(" → ")}.`;
}
