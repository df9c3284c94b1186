import type { LoadedPlugin } from "../../../shared/contract/plugins.js";

/** Menu entry of a plugin: title and path of one of its pages. */
export interface PluginMenu {
  readonly title: string;
  /** Path of the page at the daemon, such as `/board/`. */
  readonly path: string;
}

/** Returns the path of the panel page that shows a plugin. The namespace of the plugin is a separate path segment. */
export function detailOf(name: string): string {
  return `plugins/${name}`;
}

/** Returns the path of the panel page that shows a plugin's files. */
export function filesOf(name: string): string {
  return `${detailOf(name)}/files`;
}

/** Returns the path of the panel page that shows a plugin's menu entry. */
export function pageOf(name: string, { path }: PluginMenu): string {
  return `${detailOf(name)}?${new URLSearchParams({ at: path }).toString()}`;
}

/** Returns the plugin name from the path segments after `plugins/`. Undefined if the segments are not exactly one name. */
export function nameIn(rest: readonly string[]): string | undefined {
  const isScoped = rest[0]?.startsWith("@") ?? false;
  return rest.length === (isScoped ? 2 : 1) ? rest.join("/") : undefined;
}

/**
 * Whether a menu entry leads to a path below the plugin's own base path. Only such pages open inside the panel. `ownOrigin` is the origin
 * of the panel.
 */
export function isOwnPage({ base }: Pick<LoadedPlugin, "base">, { path }: Pick<PluginMenu, "path">, ownOrigin = location.origin): boolean {
  if (base === "") return false;
  const { origin, pathname } = new URL(path, ownOrigin);
  return origin === ownOrigin && (pathname === base || pathname.startsWith(`${base}/`));
}
