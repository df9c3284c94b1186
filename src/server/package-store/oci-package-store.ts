import { ApiError } from "../../shared/api-error.js";
import { deploymentIn } from "../../shared/deployment.js";
import type { Installation } from "../../shared/installation.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { Log } from "../log/log.js";
import type { ArchiveFormat } from "../packages/archive/unpack.js";
import {
  versionExists,
  type PackageIndex,
  type PackageRef,
  type PackageStore,
  type PackageUpload,
  type Publication,
  type StoredChange,
} from "../packages/package-store.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import type { ArchiveCollector } from "./archive-collector.js";
import type { PathClaims } from "./path-claims.js";
import { uploadOf, type ArchiveStore, type StoredArchive } from "./archive-store.js";
import { changedMeanwhile, idOf, IndexWriter } from "./index-writer.js";
import { keyOf, parseRow, refOf, usedFields, valueOf, versionKind, type VersionRow } from "./version-row.js";
import { hasValue, VersionTable } from "./version-table.js";

interface OciPackageStoreOptions {
  readonly records: RecordStore;
  readonly archives: ArchiveStore;
  readonly collector: ArchiveCollector;
  readonly claims: PathClaims;
  readonly log: Log;
}

/** A version whose folder exists and whose archive is in the registry. */
export interface PackedVersion {
  readonly metadata: PackageMetadata;
  readonly installation: Installation | undefined;
  readonly archive: StoredArchive;
}

/** Package store of several daemons: archives are blobs in an OCI registry, and the versions are records beside the keys. */
export class OciPackageStore implements PackageStore, PackageIndex {
  readonly #options: OciPackageStoreOptions;
  readonly #versions = new VersionTable();
  /**
   * Keys of the versions that a daemon has deleted. If the index is lost or empty, this set is empty too, so the daemon deletes no folders.
   */
  readonly #deleted = new Set<string>();
  readonly #writer: IndexWriter;
  readonly #listeners = new Set<(changes: readonly StoredChange[], isAccepted: boolean) => void>();
  readonly #stopFollowing: () => void;

  constructor(options: OciPackageStoreOptions) {
    this.#options = options;
    this.#writer = new IndexWriter(options.records);
    this.#stopFollowing = options.records.onChange((changed, isAccepted) => this.#apply(changed, isAccepted));
    this.#apply("all", false);
  }

  get index(): PackageIndex {
    return this;
  }

  /** Returns the names of all workers in the index. */
  names(): Iterable<string> {
    return this.#versions.names();
  }

  versionsOf(name: string): readonly VersionRow[] {
    return this.#versions.of(name);
  }

  /** Returns the names and versions of all versions of a worker. */
  refsOf(name: string): readonly PackageRef[] {
    return this.#versions.refsOf(name);
  }

  has(version: PackageRef): boolean {
    return this.#versions.has(version);
  }

  /** Returns whether a daemon deleted the version. False for a version that the index has never had, or that it has lost. */
  isDeleted(version: PackageRef): boolean {
    return this.#deleted.has(keyOf(version));
  }

  /** Writes the verified archive of a version to the new file `into`. Throws PACKAGE_UNAVAILABLE. */
  async fetch(version: PackageRef, into: string): Promise<{ sizeBytes: number }> {
    const { name, version: tag } = version;
    const row = this.find(version);
    if (!row) throw new ApiError("WORKER_VERSION_NOT_FOUND", `Version ${tag} of ${name} is not installed.`);
    await this.#options.archives.fetch(row, `${name} ${tag}`, into);
    return { sizeBytes: row.sizeBytes };
  }

  /**
   * Calls `listener` after changes of this and of other daemons. `isAccepted`: an operator has given up the versions that the index lacks.
   */
  follow(listener: (changes: readonly StoredChange[], isAccepted: boolean) => void): void {
    this.#listeners.add(listener);
  }

  async receive(file: UploadedFile, format: ArchiveFormat): Promise<PackageUpload> {
    const received = await this.#options.archives.receive(file, format);
    return uploadOf<Publication>(received, (publication, archive) => this.#publish(publication, archive));
  }

  /**
   * Replaces the archive of a version after a change of its files. Throws PRECONDITION_FAILED if the row has changed since `base` was read.
   */
  async replace(metadata: PackageMetadata, archive: StoredArchive, base: VersionRow | undefined): Promise<void> {
    await this.#publish({ metadata, installation: base?.installation, disables: undefined }, archive, base);
  }

  /** Does nothing for a version that only this daemon has, because the index does not contain the version. */
  async setEnabled(version: PackageRef, enabled: boolean): Promise<void> {
    await this.#writer.transact(() => {
      const row = this.find(version);
      return row ? [this.#changeOf(version, valueOf({ ...row, enabled }))] : [];
    });
  }

  async remove(versions: readonly PackageRef[]): Promise<void> {
    const { collector, claims } = this.#options;
    await this.#writer.transact(() => {
      const rows = versions.flatMap((version) => this.find(version) ?? []);
      const removed = new Set(rows.map(keyOf));
      const isLast = (name: string) => this.refsOf(name).every((ref) => removed.has(keyOf(ref)));
      const gone = [...new Set(rows.map(({ name }) => name))].filter(isLast);
      return [
        ...rows.map((row) => this.#changeOf(row, undefined)),
        ...collector.changesFor(
          undefined,
          rows.map(({ digest }) => digest),
        ),
        ...gone.flatMap((name) => claims.release("worker", name)),
      ];
    });
  }

  async close(): Promise<void> {
    this.#stopFollowing();
    await this.#options.archives.close();
  }

  /**
   * Adds versions whose folders exist, in one transaction. Skips versions that the index already contains. Another daemon can have added
   * such a version shortly before.
   */
  async add(versions: readonly PackedVersion[]): Promise<void> {
    await this.#writer.transact(() => {
      const missing = versions.filter(({ metadata }) => !this.has(metadata));
      const changes = missing.flatMap(({ metadata, installation, archive }) => this.#changesFor(metadata, installation, archive));
      // Keeps one change for each record, because two versions of a worker claim the same path.
      return [...new Map(changes.map((change) => [idOf(change), change])).values()];
    });
  }

  /** Throws for a worker that the daemons cannot share, or whose path belongs to another package. */
  assertAccepted({ name, fields }: Pick<PackageMetadata, "name" | "fields">): void {
    assertDataScope(fields["data"]);
    this.#options.claims.claim(`/${name}`, "worker", name);
  }

  async #publish(
    { metadata, installation, isNewOnly = false, disables }: Omit<Publication, "isNewOnly"> & { isNewOnly?: boolean },
    archive: StoredArchive,
    base?: VersionRow,
  ): Promise<void> {
    const { name, version, fields } = metadata;
    assertDataScope(fields["data"]);
    await this.#writer.transact(() => {
      const before = this.find({ name, version });
      if (isNewOnly && before) throw versionExists(name, version);
      if (base && before?.revision !== base.revision) throw changedMeanwhile(`${name} ${version}`);
      const disabled = disables && this.find(disables);
      return [
        ...this.#changesFor(metadata, installation, archive),
        ...(disabled ? [this.#changeOf(disabled, valueOf({ ...disabled, enabled: false }))] : []),
      ];
    });
  }

  /** Returns the changes that add or replace a version. */
  #changesFor(
    { name, version, enabled, fields, declared }: PackageMetadata,
    installation: Installation | undefined,
    archive: StoredArchive,
  ): RecordChange[] {
    const { collector, claims } = this.#options;
    const deployment = deploymentIn(declared);
    const value = valueOf({ name, version, ...archive, enabled, fields: usedFields(fields), deployment, installation });
    const before = this.find({ name, version });
    return [
      this.#changeOf({ name, version }, value),
      claims.claim(`/${name}`, "worker", name),
      ...collector.changesFor(archive.digest, before ? [before.digest] : []),
    ];
  }

  #changeOf(version: PackageRef, value: string | undefined): RecordChange {
    return { kind: versionKind, key: keyOf(version), value, ifRevision: this.#versions.revisionOf(version) };
  }

  /** Returns a version in the index. */
  find({ name, version }: PackageRef): VersionRow | undefined {
    return this.#versions.find({ name, version });
  }

  #apply(changed: readonly StoredRecord[] | "all", isAccepted: boolean): void {
    const records = changedOfKind(changed, versionKind, this.#options.records);
    const changes: StoredChange[] = changed === "all" ? this.#forgetMissing(records) : [];
    for (const record of records) {
      const type = this.#applyRow(record);
      if (type && this.#listeners.size > 0) changes.push({ ...refOf(record.key), type, isElsewhere: this.#writer.isElsewhere(record) });
    }
    if (changes.length > 0 || isAccepted) for (const listener of this.#listeners) listener(changes, isAccepted);
  }

  /** Applies one record. Returns the kind of change, or undefined if the row is the same. */
  #applyRow(record: StoredRecord): StoredChange["type"] | undefined {
    const { key, revision } = record;
    const ref = refOf(key);
    const before = this.find(ref);
    if (!hasValue(record)) {
      this.#deleted.add(key);
      return this.#versions.delete(ref) ? "worker.version-deleted" : undefined;
    }
    this.#deleted.delete(key);
    let row: VersionRow;
    try {
      row = parseRow(key, record.value, revision);
    } catch (error) {
      this.#options.log.error(
        { err: error, key },
        "a version in the index cannot be read, so this daemon keeps the previous state of the version",
      );
      return undefined;
    }
    this.#versions.put(record);
    if (before?.digest !== row.digest) return "worker.installed";
    if (before.enabled === row.enabled) return undefined;
    return row.enabled ? "worker.enabled" : "worker.disabled";
  }

  #forgetMissing(records: readonly StoredRecord[]): StoredChange[] {
    const keys = new Set(records.filter(({ value }) => value !== undefined).map(({ key }) => key));
    const missing = [...this.#versions.refs()].filter((ref) => !keys.has(keyOf(ref)));
    for (const ref of missing) this.#versions.delete(ref);
    this.#deleted.clear();
    return missing.map(({ name, version }) => ({ name, version, type: "worker.version-deleted", isElsewhere: true }));
  }
}

/** Returns the reason why daemons cannot share a worker with this value of `data` in its manifest. */
export function dataScopeProblem(data: unknown): string | undefined {
  if (typeof data !== "string" && typeof data !== "number") return undefined;
  return `The manifest cannot have data: ${data}, because daemons with RUNTIME_PACKAGE_STORE=oci share no data folder. For a separate folder on each daemon, write in the manifest: data: { size: ${data}, scope: instance }`;
}

function assertDataScope(data: unknown): void {
  const problem = dataScopeProblem(data);
  if (problem !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", problem);
}
