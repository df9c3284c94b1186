import type { Host, RequestedHost } from "./contract/hosts.js";

/** One row: a host name that was added, or one that only a manifest requests. */
export interface HostRow {
  readonly host: string;
  readonly worker: string;
  /** Version or range; undefined = the active version. */
  readonly version: string | undefined;
  readonly state: "added" | "requested";
  /** Name of the key that added the host; undefined for a requested one. */
  readonly by: string | undefined;
  /** Unix time in seconds when the host was added. */
  readonly at: number | undefined;
}

/** Returns the added hosts, then the requested ones. */
export function toHostRows({ hosts, requested }: { hosts: readonly Host[]; requested: readonly RequestedHost[] }): readonly HostRow[] {
  return [
    ...hosts.map(({ createdAt: at, createdBy: by, ...host }) => ({ ...host, version: host.version, state: "added" as const, by, at })),
    ...requested.map((host) => ({ ...host, version: undefined, state: "requested" as const, by: undefined, at: undefined })),
  ];
}
