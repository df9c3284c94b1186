import type { LoadedPlugin } from "../../../shared/contract/plugins.js";

/** A plugin's own page in the panel: what its menu says, and where. */
export interface PluginMenu {
  readonly title: string;
  /** As the daemon serves it: `/board/`. */
  readonly path: string;
}

/** Where the panel tells about a plugin; a scope is a segment of its own. */
export function detailOf(name: string): string {
  return `plugins/${name}`;
}

/** Where the panel shows a plugin's files. */
export function filesOf(name: string): string {
  return `${detailOf(name)}/files`;
}

/** Where the panel shows what a plugin's menu leads to. */
export function pageOf(name: string, { path }: PluginMenu): string {
  return `${detailOf(name)}?${new URLSearchParams({ at: path }).toString()}`;
}

/** The name in what follows `plugins/` in an address; undefined when it is none. */
export function nameIn(rest: readonly string[]): string | undefined {
  const isScoped = rest[0]?.startsWith("@") ?? false;
  return rest.length === (isScoped ? 2 : 1) ? rest.join("/") : undefined;
}

/** Whether a menu leads to what the plugin itself serves: only that is shown inside of the panel. `ownOrigin` is that of the panel. */
export function isOwnPage({ base }: Pick<LoadedPlugin, "base">, { path }: Pick<PluginMenu, "path">, ownOrigin = location.origin): boolean {
  if (base === "") return false;
  const { origin, pathname } = new URL(path, ownOrigin);
  return origin === ownOrigin && (pathname === base || pathname.startsWith(`${base}/`));
}
