import type { PackageRef } from "../packages/package-store.js";
import type { StoredRecord } from "../storage/record-store.js";
import { readRow, refOf, type VersionRow } from "./version-row.js";

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

  find({ name, version }: PackageRef): VersionRow | undefined {
    const record = this.#records.get(name)?.find(({ key }) => refOf(key).version === version);
    return record && rowOf(record);
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

  /** Returns whether the table had the version. */
  delete(version: PackageRef): boolean {
    const { name } = version;
    const records = this.#records.get(name) ?? [];
    const kept = records.filter(({ key }) => refOf(key).version !== version.version);
    if (kept.length === 0) this.#records.delete(name);
    else this.#records.set(name, kept);
    return kept.length < records.length;
  }
}

export function hasValue(record: StoredRecord): record is VersionRecord {
  return record.value !== undefined;
}

function rowOf({ key, value, revision }: VersionRecord): VersionRow {
  return readRow(key, value, revision);
}
