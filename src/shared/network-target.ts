/** Whom a worker may connect to: a host and a port (undefined = any), or a socket of this machine. */
export type NetworkTarget = { readonly host: string; readonly port: number | undefined } | { readonly path: string };

const hostAndPort = /^(?<host>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?):(?<port>\d{1,5}|\*)$/i;
const socketPath = /^unix:(?<path>\/[^\0,]*)$/;

/** For messages: what `parseNetworkTarget` takes. */
export const networkTargetForms = "host:port, [IPv6 address]:port, host:* or unix:/path";

/** Undefined for what is none. Host names are compared in lower case. */
export function parseNetworkTarget(text: string): NetworkTarget | undefined {
  const path = socketPath.exec(text)?.groups?.["path"];
  if (path !== undefined) return { path };
  const { host, port } = hostAndPort.exec(text)?.groups ?? {};
  if (host === undefined || port === undefined || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[|\]$/g, "").toLowerCase(), port: port === "*" ? undefined : Number(port) };
}
