import { expect, test } from "vitest";
import { HostTable } from "../../../../src/server/hosts/host-table.js";
import { ChangeListeners } from "../../../../src/server/storage/change-listeners.js";
import type { RecordListener, RecordStore, StoredRecord } from "../../../../src/server/storage/record-store.js";

const config = { appDomain: undefined, ownHostNames: new Set<string>() };
const hostRow = (host: string, worker: string, revision: number): StoredRecord => ({
  kind: "host",
  key: host,
  value: JSON.stringify({ host, worker, createdAt: 1, createdBy: "root" }),
  revision,
});
const removedRow = (key: string, revision: number): StoredRecord => ({ kind: "host", key, value: undefined, revision });

/** Records that another daemon changes. */
class ForeignRecords implements RecordStore {
  rows: readonly StoredRecord[] = [];
  fetchCount = 0;
  readonly #listeners = new ChangeListeners();

  readRevision(): number {
    return 0;
  }

  fetchSince(): readonly StoredRecord[] {
    this.fetchCount += 1;
    return this.rows;
  }

  transact(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  onChange(listener: RecordListener): () => void {
    return this.#listeners.add(listener);
  }

  notify(changed: readonly StoredRecord[] | "all"): void {
    this.#listeners.notify(changed);
  }
}

test("the host table reads only the hosts that another daemon has changed", () => {
  const records = new ForeignRecords();
  records.rows = [hostRow("a.test", "a", 1), hostRow("b.test", "b", 2)];
  const table = new HostTable({ records, config });
  const found = () => ["a.test", "b.test", "c.test"].map((host) => table.find(host)?.name);
  expect(found()).toEqual(["a", "b", undefined]);

  records.notify([hostRow("c.test", "c", 3), hostRow("b.test", "other", 3)]);
  expect(found()).toEqual(["a", "other", "c"]);
  records.notify([
    removedRow("a.test", 4),
    removedRow("unknown.test", 4),
    { kind: "secret", key: "c.test", value: undefined, revision: 4 },
  ]);
  expect(found()).toEqual([undefined, "other", "c"]);
  expect(table.list().map(({ host }) => host)).toEqual(["b.test", "c.test"]);
  expect(records.fetchCount).toBe(1);
});

test("the host table reads all hosts again after the primary was restored", () => {
  const records = new ForeignRecords();
  records.rows = [hostRow("a.test", "a", 9)];
  const table = new HostTable({ records, config });
  records.rows = [hostRow("b.test", "b", 3), removedRow("c.test", 4)];

  records.notify("all");

  expect(["a.test", "b.test", "c.test"].map((host) => table.find(host)?.name)).toEqual([undefined, "b", undefined]);
  expect(table.size).toBe(1);
});
