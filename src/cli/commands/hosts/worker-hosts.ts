import { ApiError } from "../../../shared/api-error.js";
import { automaticLabel } from "../../../shared/automatic-host.js";
import type { list } from "../../../shared/contract/hosts.js";
import type { Connection } from "../../client/connection.js";

/** The host names of a worker. */
export interface WorkerHosts {
  /** The host below RUNTIME_APP_DOMAIN; null if the worker has none. */
  readonly automaticHost: string | null;
  /** The reason why the worker has no automatic host name; null if it has one. */
  readonly automaticHostReason: string | null;
  /** Hosts that an operator added for the worker. */
  readonly hosts: readonly string[];
  /** Hosts in the manifest that no operator added for the worker. */
  readonly requestedHosts: readonly string[];
}

type Listing = Connection<{ hosts: { list: typeof list } }>;

interface HostQuestion {
  readonly name: string;
  /** The version whose automatic host is wanted; undefined for the active version. */
  readonly version?: string | undefined;
  /** Hosts that the manifest of a package requests. If undefined, the hosts in the manifest of the active version are used. */
  readonly requested?: readonly string[] | undefined;
}

/** Returns the host names of a worker. Undefined if the daemon has no host names, or if the key lacks workers:read. */
export async function findHosts({ client }: Listing, { name, version, requested }: HostQuestion): Promise<WorkerHosts | undefined> {
  const answer = await client.hosts.list().catch((error: unknown) => {
    if (error instanceof ApiError && (error.code === "PERMISSION_DENIED" || error.code === "NOT_FOUND")) return undefined;
    throw error;
  });
  if (answer === undefined) return undefined;
  const hosts = answer.hosts.filter(({ worker }) => worker === name).map(({ host }) => host);
  const asked = requested ?? answer.requested.filter(({ worker }) => worker === name).map(({ host }) => host);
  return {
    ...automaticHostOf({ name, version }, answer.appDomain),
    hosts,
    requestedHosts: asked.filter((host) => !hosts.includes(host)),
  };
}

function automaticHostOf(
  { name, version }: { readonly name: string; readonly version: string | undefined },
  appDomain: string | undefined,
): Pick<WorkerHosts, "automaticHost" | "automaticHostReason"> {
  if (appDomain === undefined) return { automaticHost: null, automaticHostReason: "the daemon has no RUNTIME_APP_DOMAIN" };
  const automatic = automaticLabel(name, version);
  return "label" in automatic
    ? { automaticHost: `${automatic.label}.${appDomain}`, automaticHostReason: null }
    : { automaticHost: null, automaticHostReason: automatic.reason };
}

/** Returns the automatic host, or the reason for its absence, as text. */
export function describeAutomaticHost({ automaticHost, automaticHostReason }: WorkerHosts): string {
  return automaticHost ?? `none: ${automaticHostReason}`;
}
