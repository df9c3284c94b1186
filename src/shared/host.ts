/** A name with at most one trailing dot, or an IPv6 address in brackets; and a port. */
const hostPattern = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a Host header is a name or an address with an optional port: no user info, no path. */
export function isHost(host: string | undefined): host is string {
  return host !== undefined && hostPattern.test(host) && URL.canParse(`http://${host}`);
}

/** Returns the normalized host name or address of a valid Host header. */
export function hostNameOf(host: string): string {
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

/** Returns the port of a valid Host header. Undefined without a port. */
export function portOf(host: string): string | undefined {
  return /:(\d+)$/.exec(host)?.[1];
}
