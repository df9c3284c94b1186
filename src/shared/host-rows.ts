import type { Host, RequestedHost } from "./contract/hosts.js";

/** A row in a list of hosts. The host was either added through the API, or is only requested by a manifest. */
export interface HostRow {
  readonly host: string;
  readonly worker: string;
  /** Version or semver range that the host serves. Undefined for the active version. */
  readonly version: string | undefined;
  readonly state: "added" | "requested";
  /** Name of the API key that added the host. Undefined for a host that only a manifest requests. */
  readonly by: string | undefined;
  /** Unix time in seconds at which the host was added. Undefined for a host that only a manifest requests. */
  readonly at: number | undefined;
}

/** Returns one row per host: first the hosts that were added through the API, then the hosts that only a manifest requests. */
export function toHostRows({ hosts, requested }: { hosts: readonly Host[]; requested: readonly RequestedHost[] }): readonly HostRow[] {
  return [
    ...hosts.map(({ createdAt: at, createdBy: by, ...host }) => ({ ...host, version: host.version, state: "added" as const, by, at })),
    ...requested.map((host) => ({ ...host, version: undefined, state: "requested" as const, by: undefined, at: undefined })),
  ];
}
