import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn } from "../../shared/deployment.js";
import type { Log } from "../log/log.js";
import { asStorageFailure } from "../platform/storage-full.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import {
  versionExists,
  type PackageIndex,
  type PackageRef,
  type PackageStore,
  type PackageUpload,
  type Publication,
  type StoredChange,
} from "../packages/package-store.js";
import type { ArchiveFormat } from "../packages/archive/unpack.js";
import type { BlobStore } from "../registry/blob-store.js";
import { RegistryError } from "../registry/registry-error.js";
import type { Digest } from "../registry/verified-download.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import { keyOf, parseRow, refOf, usedFields, valueOf, versionKind, type VersionRow } from "./version-row.js";

const mediaTypes: Readonly<Record<ArchiveFormat, string>> = {
  tar: "application/vnd.runtimed.package.v1.tar+gzip",
  zip: "application/vnd.runtimed.package.v1.zip",
};
/** Number of attempts to change a row that other daemons change at the same time, and the pause before the next attempt in ms. */
const mostAttempts = 5;
const attemptPauseMs = 300;
/** Seconds after which a client can repeat a change that the registry did not store. */
const repeatAfterSeconds = 5;

interface OciPackageStoreOptions {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly log: Log;
}

/** Package store of several daemons: archives are blobs in an OCI registry, and the versions are records beside the keys. */
export class OciPackageStore implements PackageStore, PackageIndex {
  readonly #options: OciPackageStoreOptions;
  readonly #workers = new Map<string, Map<string, VersionRow>>();
  /** Keys of the versions that a daemon deleted. A lost or empty index has no such keys, so it deletes no folders. */
  readonly #deleted = new Set<string>();
  /** The values that this daemon writes to records now, by key. */
  readonly #ownValues = new Map<string, string | undefined>();
  readonly #listeners = new Set<(changes: readonly StoredChange[]) => void>();
  readonly #stopFollowing: () => void;

  constructor(options: OciPackageStoreOptions) {
    this.#options = options;
    this.#stopFollowing = options.records.onChange((changed) => this.#apply(changed));
    this.#apply("all");
  }

  get index(): PackageIndex {
    return this;
  }

  /** Returns the names of all workers in the index. */
  names(): Iterable<string> {
    return this.#workers.keys();
  }

  versionsOf(name: string): readonly VersionRow[] {
    return [...(this.#workers.get(name)?.values() ?? [])];
  }

  /** Returns whether a daemon deleted the version. False for a version that the index has never had, or that it has lost. */
  isDeleted(version: PackageRef): boolean {
    return this.#deleted.has(keyOf(version));
  }

  /** Returns whether the registry has an archive. Throws RegistryError. */
  hasArchive(digest: string): Promise<boolean> {
    return this.#options.blobs.has(digest as Digest);
  }

  /** Writes the verified archive of a version to the new file `into`. Throws PACKAGE_UNAVAILABLE. */
  async fetch(version: PackageRef, into: string): Promise<{ sizeBytes: number }> {
    const { name, version: tag } = version;
    const row = this.find(version);
    if (!row) throw new ApiError("WORKER_VERSION_NOT_FOUND", `Version ${tag} of ${name} is not installed.`);
    try {
      await this.#options.blobs.get({ digest: row.digest as Digest, sizeBytes: row.sizeBytes }, into);
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause;
      const message = `The files of ${name} ${tag} are not on this machine, and the registry ${cause.message}.`;
      throw new ApiError("PACKAGE_UNAVAILABLE", message, { cause, retryAfterSeconds: repeatAfterSeconds });
    }
    return { sizeBytes: row.sizeBytes };
  }

  /** Calls `listener` after changes of this and of other daemons. */
  follow(listener: (changes: readonly StoredChange[]) => void): void {
    this.#listeners.add(listener);
  }

  async receive(file: UploadedFile, format: ArchiveFormat): Promise<PackageUpload> {
    const archive = `${file.path}.package`;
    // The unpacker deletes the archive, so the store keeps it under a second name.
    await link(file.path, archive).catch(async (error: unknown) => {
      await rm(file.path, { force: true });
      throw asStorageFailure(error);
    });
    let sent: { digest: Digest; sizeBytes: number } | undefined;
    return {
      send: async () => {
        await file.arrival?.whole;
        sent = await this.#send(archive, format, file.sha256?.());
        return sent.digest;
      },
      publish: async (publication) => {
        if (!sent) throw new Error("the archive must be sent before its version is published");
        await this.#publish(publication, { ...sent, format });
      },
      discard: () => rm(archive, { force: true }).catch(() => undefined),
    };
  }

  async setEnabled(version: PackageRef, enabled: boolean): Promise<void> {
    await this.#change([version], (row) => valueOf({ ...row, enabled }));
  }

  async remove(versions: readonly PackageRef[]): Promise<void> {
    await this.#change(versions, () => undefined);
  }

  async close(): Promise<void> {
    this.#stopFollowing();
    await this.#options.blobs.close();
  }

  async #send(archive: string, format: ArchiveFormat, sha256: string | undefined): Promise<{ digest: Digest; sizeBytes: number }> {
    const digest: Digest = sha256 === undefined ? await digestOfFile(archive) : `sha256:${sha256}`;
    const { size: sizeBytes } = await stat(archive);
    try {
      await this.#options.blobs.put({ digest, sizeBytes, file: archive, mediaType: mediaTypes[format] });
    } catch (cause) {
      if (!(cause instanceof RegistryError)) throw cause;
      const message = `Nothing changed, because the registry ${cause.message}.`;
      throw new ApiError("PACKAGE_STORE_UNAVAILABLE", message, { cause, retryAfterSeconds: repeatAfterSeconds });
    }
    return { digest, sizeBytes };
  }

  async #publish(
    { metadata, installation, isNewOnly, disables, replaces }: Publication,
    archive: Pick<VersionRow, "digest" | "sizeBytes" | "format">,
  ): Promise<void> {
    const { name, version, enabled, fields, declared } = metadata;
    const value = valueOf({
      name,
      version,
      ...archive,
      enabled,
      fields: usedFields(fields),
      deployment: deploymentIn(declared),
      installation,
    });
    await this.#transact(() => {
      if (isNewOnly && this.find({ name, version })) throw versionExists(name, version);
      if (replaces !== undefined && this.find({ name, version })?.digest !== replaces) throw changedMeanwhile(name, version);
      const disabled = disables && this.find(disables);
      return [
        this.#changeOf({ name, version }, value),
        ...(disabled ? [this.#changeOf(disabled, valueOf({ ...disabled, enabled: false }))] : []),
      ];
    });
  }

  /** Changes the rows of versions. Ignores versions that only this daemon has, because they are not in the index. */
  async #change(versions: readonly PackageRef[], newValue: (row: VersionRow) => string | undefined): Promise<void> {
    await this.#transact(() => {
      const rows = versions.flatMap((version) => this.find(version) ?? []);
      return rows.map((row) => this.#changeOf(row, newValue(row)));
    });
  }

  #changeOf(version: PackageRef, value: string | undefined): RecordChange {
    return { kind: versionKind, key: keyOf(version), value, ifRevision: this.find(version)?.revision ?? 0 };
  }

  /** Stores the changes. If another daemon changed a row meanwhile, computes the changes again. Throws CHANGE_CONFLICT. */
  async #transact(changesNow: () => readonly RecordChange[]): Promise<void> {
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const changes = changesNow();
      if (changes.length === 0) return;
      for (const { key, value } of changes) this.#ownValues.set(key, value);
      try {
        if (await this.#options.records.transact(changes)) return;
      } finally {
        for (const { key } of changes) this.#ownValues.delete(key);
      }
      if (attempt < mostAttempts) await delay(attemptPauseMs);
    }
    throw new ApiError("CHANGE_CONFLICT", "Another daemon changed the same package meanwhile. Read its state and try again.");
  }

  find({ name, version }: PackageRef): VersionRow | undefined {
    return this.#workers.get(name)?.get(version);
  }

  #apply(changed: readonly StoredRecord[] | "all"): void {
    const records = (changed === "all" ? this.#options.records.fetchSince(0) : changed).filter(({ kind }) => kind === versionKind);
    const changes: StoredChange[] = changed === "all" ? this.#forgetMissing(records) : [];
    for (const record of records) {
      const type = this.#applyRow(record);
      const isElsewhere = !this.#ownValues.has(record.key) || this.#ownValues.get(record.key) !== record.value;
      if (type) changes.push({ ...refOf(record.key), type, isElsewhere });
    }
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes);
  }

  /** Applies one record. Returns the kind of change, or undefined if the row is the same. */
  #applyRow({ key, value, revision }: StoredRecord): StoredChange["type"] | undefined {
    const ref = refOf(key);
    const before = this.find(ref);
    if (value === undefined) {
      this.#deleted.add(key);
      return this.#delete(ref) ? "worker.version-deleted" : undefined;
    }
    this.#deleted.delete(key);
    let row: VersionRow;
    try {
      row = parseRow(key, value, revision);
    } catch (error) {
      this.#options.log.error({ err: error, key }, "a version in the index cannot be read; this daemon keeps its previous state");
      return undefined;
    }
    const versions = this.#workers.get(ref.name) ?? new Map<string, VersionRow>();
    versions.set(ref.version, row);
    this.#workers.set(ref.name, versions);
    if (before?.digest !== row.digest) return "worker.installed";
    if (before.enabled === row.enabled) return undefined;
    return row.enabled ? "worker.enabled" : "worker.disabled";
  }

  #forgetMissing(records: readonly StoredRecord[]): StoredChange[] {
    const keys = new Set(records.filter(({ value }) => value !== undefined).map(({ key }) => key));
    const missing = [...this.#workers.values()].flatMap((versions) => [...versions.values()]).filter((row) => !keys.has(keyOf(row)));
    for (const row of missing) this.#delete(row);
    this.#deleted.clear();
    return missing.map(({ name, version }) => ({ name, version, type: "worker.version-deleted", isElsewhere: true }));
  }

  #delete({ name, version }: PackageRef): boolean {
    const versions = this.#workers.get(name);
    const isDeleted = versions?.delete(version) ?? false;
    if (versions?.size === 0) this.#workers.delete(name);
    return isDeleted;
  }
}

/** Returns the error for a change of files of a version that another daemon changed meanwhile. */
export function changedMeanwhile(name: string, version: string): ApiError {
  return new ApiError(
    "PRECONDITION_FAILED",
    `Another daemon changed ${name} ${version} after it was read. Nothing was written. Read the files again, then retry.`,
  );
}

async function digestOfFile(file: string): Promise<Digest> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
