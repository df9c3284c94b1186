const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a Host header is a name or an address with an optional port: no user info, no path. */
export function isHost(host: string | undefined): host is string {
  return host !== undefined && hostPattern.test(host) && URL.canParse(`http://${host}`);
}

/** The name or address of a sound Host header, in lower case and in one spelling. */
export function hostNameOf(host: string): string {
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

/** The port of a sound Host header; undefined without one. */
export function portOf(host: string): string | undefined {
  return /:(\d+)$/.exec(host)?.[1];
}
