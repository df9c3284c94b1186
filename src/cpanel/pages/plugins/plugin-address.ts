import type { LoadedPlugin } from "../../../shared/contract/plugins.js";

/** Title and path of a plugin's page in the panel. */
export interface PluginMenu {
  readonly title: string;
  /** Path at the daemon: `/board/`. */
  readonly path: string;
}

/** Returns the page of a plugin. A scope is a segment of its own. */
export function detailOf(name: string): string {
  return `plugins/${name}`;
}

/** Returns the page of a plugin's files. */
export function filesOf(name: string): string {
  return `${detailOf(name)}/files`;
}

/** Returns the path of the panel page that shows a plugin's menu entry. */
export function pageOf(name: string, { path }: PluginMenu): string {
  return `${detailOf(name)}?${new URLSearchParams({ at: path }).toString()}`;
}

/** Returns the name after `plugins/` in an address; undefined for an invalid one. */
export function nameIn(rest: readonly string[]): string | undefined {
  const isScoped = rest[0]?.startsWith("@") ?? false;
  return rest.length === (isScoped ? 2 : 1) ? rest.join("/") : undefined;
}

/** Whether a menu leads to the plugin's own base: only such pages are shown inside the panel. `ownOrigin` is the panel's. */
export function isOwnPage({ base }: Pick<LoadedPlugin, "base">, { path }: Pick<PluginMenu, "path">, ownOrigin = location.origin): boolean {
  if (base === "") return false;
  const { origin, pathname } = new URL(path, ownOrigin);
  return origin === ownOrigin && (pathname === base || pathname.startsWith(`${base}/`));
}
