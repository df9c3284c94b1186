import { ApiError } from "../../../shared/api-error.js";
import { automaticLabel } from "../../../shared/automatic-host.js";
import type { list } from "../../../shared/contract/hosts.js";
import type { Connection } from "../../client/connection.js";

/** The automatic, added and requested host names of a worker. */
export interface WorkerHosts {
  /** The worker's host name below RUNTIME_APP_DOMAIN. Null if the worker has no automatic host name. */
  readonly automaticHost: string | null;
  /** The reason why the worker has no automatic host name. Null if the worker has an automatic host name. */
  readonly automaticHostReason: string | null;
  /** Host names that an operator added for the worker. */
  readonly hosts: readonly string[];
  /** Host names that the manifest requests and that no operator has added for the worker. */
  readonly requestedHosts: readonly string[];
}

type Listing = Connection<{ hosts: { list: typeof list } }>;

interface HostQuestion {
  readonly name: string;
  /** The version whose automatic host name is returned. If undefined, the automatic host name of the active version is returned. */
  readonly version?: string | undefined;
  /** Host names that a local manifest requests. If undefined, the host names of the active version's manifest are used. */
  readonly requested?: readonly string[] | undefined;
}

/**
 * Returns the host names of a worker. Undefined if the daemon does not support host names, or if the key lacks the permission workers:read.
 */
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

/** Returns the automatic host name as text, or the reason why the worker has no automatic host name. */
export function describeAutomaticHost({ automaticHost, automaticHostReason }: WorkerHosts): string {
  return automaticHost ?? `none: ${automaticHostReason}`;
}
