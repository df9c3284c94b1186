import type { Log } from "../log/log.js";
import { OciBlobStore } from "../registry/oci-blob-store.js";
import { RegistryClient, type RegistryClientOptions } from "../registry/registry-client.js";
import type { LeaseStore } from "../storage/lease-store.js";
import type { RecordStore } from "../storage/record-store.js";
import { ArchiveCollector } from "./archive-collector.js";
import { ArchiveStore } from "./archive-store.js";
import { OciPackageStore } from "./oci-package-store.js";
import { OciPluginStore } from "./oci-plugin-store.js";
import { PathClaims } from "./path-claims.js";

interface OciStoresOptions {
  readonly source: RegistryClientOptions;
  readonly records: RecordStore;
  readonly leases: LeaseStore;
  /** True with a primary. */
  readonly isShared: boolean;
  readonly log: Log;
}

/** The archives in an OCI registry, and the worker versions and plugins of the index. */
interface OciStores {
  readonly archives: ArchiveStore;
  readonly collector: ArchiveCollector;
  readonly versions: OciPackageStore;
  readonly plugins: OciPluginStore;
}

/** Opens the package store of an OCI registry. Sends no request to the registry. */
export async function openOciStores({ source, records, leases, isShared, log }: OciStoresOptions): Promise<OciStores> {
  const blobs = new OciBlobStore(await RegistryClient.at(source));
  const collector: ArchiveCollector = new ArchiveCollector({ records, leases, blobs, isShared, log });
  const archives = new ArchiveStore(blobs, (digest) => collector.keep(digest));
  const rows = { records, collector, claims: new PathClaims(records), log };
  return { archives, collector, versions: new OciPackageStore({ ...rows, archives }), plugins: new OciPluginStore(rows) };
}
