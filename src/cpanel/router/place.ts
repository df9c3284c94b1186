/** Address of the panel according to the page's `<base>`, below any path that a proxy adds. */
export interface Place {
  /** Ends with a slash: `/cpanel/`, or `/x/cpanel/` behind a proxy. */
  readonly panelPath: string;
  /** Prefix of the daemon's own paths: empty, or `/x`. */
  readonly daemonPath: string;
}

export function placeOf(baseUrl: string): Place {
  const panel = new URL(".", baseUrl);
  return { panelPath: panel.pathname, daemonPath: new URL("..", panel).pathname.replace(/\/$/, "") };
}
