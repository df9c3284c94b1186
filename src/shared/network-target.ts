/** An address to which a worker is allowed to connect: a host with a port (undefined means any port), or a Unix socket. */
export type NetworkTarget = { readonly host: string; readonly port: number | undefined } | { readonly path: string };

const hostAndPort = /^(?<host>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?):(?<port>\d{1,5}|\*)$/i;
const socketPath = /^unix:(?<path>\/[^\0,]*)$/;

/** Text for messages: the forms that `parseNetworkTarget` accepts. */
export const networkTargetForms = "host:port, [IPv6 address]:port, host:* or unix:/path";

/** Parses an address to which a worker is allowed to connect. Converts host names to lower case. Returns undefined for an invalid text. */
export function parseNetworkTarget(text: string): NetworkTarget | undefined {
  const path = socketPath.exec(text)?.groups?.["path"];
  if (path !== undefined) return { path };
  const { host, port } = hostAndPort.exec(text)?.groups ?? {};
  if (host === undefined || port === undefined || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, "").toLowerCase(), port: port === "*" ? undefined : Number(port) };
}
