import type { Host, RequestedHost } from "../../../shared/contract/hosts.js";

/** One row: a host name that was added, or one that only a manifest requests. */
export interface HostRow {
  readonly host: string;
  readonly worker: string;
  /** Version or range; undefined = the active version. */
  readonly version: string | undefined;
  readonly state: "added" | "requested";
  /** Name of the key that added the host; undefined for a requested one. */
  readonly by: string | undefined;
}

/** Returns the added hosts, then the requested ones. */
export function toHostRows({ hosts, requested }: { hosts: readonly Host[]; requested: readonly RequestedHost[] }): readonly HostRow[] {
  return [
    ...hosts.map(({ host, worker, version, createdBy }) => ({ host, worker, version, state: "added" as const, by: createdBy })),
    ...requested.map(({ host, worker }) => ({ host, worker, version: undefined, state: "requested" as const, by: undefined })),
  ];
}
