import type { PackageRef } from "../packages/package-store.js";
import type { StoredRecord } from "../storage/record-store.js";
import { keyOf, readRow, refOf, type VersionRow } from "./version-row.js";

/** A record that is not removed. */
interface VersionRecord extends StoredRecord {
  readonly value: string;
}

/**
 * The versions of the index by worker. Keeps the JSON text, which the record store has in memory anyway, and parses a row when it is read.
 * Parsed rows would more than double the memory of a version.
 */
export class VersionTable {
  readonly #records = new Map<string, readonly VersionRecord[]>();

  /** Returns the names of all workers. */
  names(): Iterable<string> {
    return this.#records.keys();
  }

  of(name: string): VersionRow[] {
    return (this.#records.get(name) ?? []).map(rowOf);
  }

  find(ref: PackageRef): VersionRow | undefined {
    const record = this.#find(ref);
    return record && rowOf(record);
  }

  has(ref: PackageRef): boolean {
    return this.#find(ref) !== undefined;
  }

  /** Returns the revision of the record of a version. 0 for a missing version. */
  revisionOf(ref: PackageRef): number {
    return this.#find(ref)?.revision ?? 0;
  }

  /** Returns the names and versions of all versions of a worker. */
  refsOf(name: string): PackageRef[] {
    return (this.#records.get(name) ?? []).map(({ key }) => refOf(key));
  }

  *refs(): Generator<PackageRef> {
    for (const records of this.#records.values()) for (const { key } of records) yield refOf(key);
  }

  /** Adds or replaces a version. `parseRow` must accept the record. */
  put(record: VersionRecord): void {
    const { name } = refOf(record.key);
    const records = this.#records.get(name) ?? [];
    const isNew = records.every(({ key }) => key !== record.key);
    this.#records.set(name, isNew ? [...records, record] : records.map((each) => (each.key === record.key ? record : each)));
  }

  /** Deletes a version. Returns whether the table contained it. */
  delete(version: PackageRef): boolean {
    const { name } = version;
    const records = this.#records.get(name) ?? [];
    const kept = records.filter(({ key }) => refOf(key).version !== version.version);
    if (kept.length === 0) this.#records.delete(name);
    else this.#records.set(name, kept);
    return kept.length < records.length;
  }

  #find(ref: PackageRef): VersionRecord | undefined {
    const key = keyOf(ref);
    return this.#records.get(ref.name)?.find((record) => record.key === key);
  }
}

export function hasValue(record: StoredRecord): record is VersionRecord {
  return record.value !== undefined;
}

function rowOf({ key, value, revision }: VersionRecord): VersionRow {
  return readRow(key, value, revision);
}
