/** Matches a host name with at most one trailing dot, or an IPv6 address in brackets. A port can follow. */
const hostPattern = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Whether a Host header consists of a host name or address and an optional port, without user info or path. */
export function isHost(host: string | undefined): host is string {
  return host !== undefined && hostPattern.test(host) && URL.canParse(`http://${host}`);
}

/** Returns the normalized host name or address of a valid Host header. */
export function hostNameOf(host: string): string {
  return new URL(`http://${host}`).hostname.replace(/\.$/, "");
}

/** Returns the port in a valid Host header. Undefined if the header has no port. */
export function portOf(host: string): string | undefined {
  return /:(\d+)$/.exec(host)?.[1];
}
