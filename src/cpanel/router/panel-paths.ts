/**
 * Paths of the panel and the daemon, derived from the `<base>` of the page. If a proxy adds a path prefix, both paths include the prefix.
 */
export interface PanelPaths {
  /** Path of the panel, with a slash at the end: `/cpanel/`, or `/x/cpanel/` behind a proxy with the prefix `/x`. */
  readonly panelPath: string;
  /** Prefix of the daemon's own paths: empty, or `/x` behind a proxy with the prefix `/x`. */
  readonly daemonPath: string;
}

export function panelPathsOf(baseUrl: string): PanelPaths {
  const panel = new URL(".", baseUrl);
  return { panelPath: panel.pathname, daemonPath: new URL("..", panel).pathname.replace(/\/$/, "") };
}
