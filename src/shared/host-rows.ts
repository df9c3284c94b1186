import type { Host, RequestedHost } from "./contract/hosts.js";

/** A row in a list of hosts: a host name that was added, or a host name that only a manifest requests. */
export interface HostRow {
  readonly host: string;
  readonly worker: string;
  /** Version or semver range that the host serves. Undefined for the active version. */
  readonly version: string | undefined;
  readonly state: "added" | "requested";
  /** Name of the key that added the host. Undefined for a requested host. */
  readonly by: string | undefined;
  /** Unix time in seconds when the host was added. Undefined for a requested host. */
  readonly at: number | undefined;
}

/** Returns one row per host: first the added hosts, then the requested hosts. */
export function toHostRows({ hosts, requested }: { hosts: readonly Host[]; requested: readonly RequestedHost[] }): readonly HostRow[] {
  return [
    ...hosts.map(({ createdAt: at, createdBy: by, ...host }) => ({ ...host, version: host.version, state: "added" as const, by, at })),
    ...requested.map((host) => ({ ...host, version: undefined, state: "requested" as const, by: undefined, at: undefined })),
  ];
}
