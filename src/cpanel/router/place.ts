/** Where the panel lies, as the page's own `<base>` says: below any path that a proxy puts before it. */
export interface Place {
  /** Ends with a slash: `/cpanel/`, or `/x/cpanel/` behind a proxy. */
  readonly panelPath: string;
  /** What the daemon's own paths follow: empty, or `/x`. */
  readonly daemonPath: string;
}

export function placeOf(baseUrl: string): Place {
  const panel = new URL(".", baseUrl);
  return { panelPath: panel.pathname, daemonPath: new URL("..", panel).pathname.replace(/\/$/, "") };
}
