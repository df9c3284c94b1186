import { rm } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { copyReplica } from "../../../src/server/access/replica/copy-replica.js";
import { moveKeys } from "../../../src/server/access/replica/move-keys.js";
import { createLog } from "../../../src/server/log/log.js";
import type { RecordStore, StoredRecord } from "../../../src/server/storage/record-store.js";
import { newKey, openReplicatedStore } from "../../support/open-replicated-store.js";
import { startSqld } from "../../support/start-sqld.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const log = createLog({ level: "silent" });

async function openLocal(directory?: string): Promise<{ store: LocalKeyStore; directory: string }> {
  const stateDirectory = directory ?? (await temporaryDirectory());
  const store = new LocalKeyStore({ stateDirectory, log });
  onTestFinished(() => store.close());
  return { store, directory: stateDirectory };
}

async function startPrimary() {
  const primary = await startSqld();
  onTestFinished(primary.dispose);
  return primary;
}

const opened: Record<string, () => Promise<RecordStore>> = {
  "a local file": async () => (await openLocal()).store.records,
  "a primary": async () => (await openReplicatedStore((await startPrimary()).url)).store.records,
};

describe.each(Object.keys(opened))("a record store (storage: %s)", (name) => {
  const open = opened[name] as () => Promise<RecordStore>;

  test("stores, changes and removes records, and calls its listeners", async () => {
    const records = await open();
    let calls = 0;
    const unsubscribe = records.onChange(() => (calls += 1));

    const first = await records.transact([
      { kind: "host", key: "a.example", value: '{"worker":"a"}' },
      { kind: "host", key: "b.example", value: '{"worker":"b"}' },
    ]);
    const second = await records.transact([{ kind: "host", key: "a.example", value: undefined }]);

    const [revision = 0] = (first ?? []).map((record) => record.revision);
    expect(first?.map(({ key, value }) => [key, value])).toEqual([
      ["a.example", '{"worker":"a"}'],
      ["b.example", '{"worker":"b"}'],
    ]);
    expect(records.fetchSince(revision)).toEqual(second);
    expect(records.fetchSince(0)).toEqual([{ kind: "host", key: "b.example", value: '{"worker":"b"}', revision }, ...(second ?? [])]);
    expect(calls).toBeGreaterThanOrEqual(2);
    await expect.poll(() => records.readRevision()).toBe(second?.[0]?.revision);
    unsubscribe();
    const before = calls;
    await records.transact([{ kind: "host", key: "c.example", value: "{}" }]);
    expect(calls).toBe(before);
  });

  test("returns only the records of one kind on request", async () => {
    const records = await open();
    const [host, secret] =
      (await records.transact([
        { kind: "host", key: "a", value: "1" },
        { kind: "secret", key: "a", value: "2" },
      ])) ?? [];

    expect(records.fetchSince(0, "host")).toEqual([host]);
    expect(records.fetchSince(0, "secret")).toEqual([secret]);
    expect(records.fetchSince(0, "path")).toEqual([]);
    expect(records.fetchSince(secret?.revision ?? 0, "secret")).toEqual([]);
  });

  test("rejects all changes of a transaction when one of its conditions is not met", async () => {
    const records = await open();
    const [a] = (await records.transact([{ kind: "host", key: "a", value: "1", ifRevision: 0 }])) ?? [];

    const refused = await records.transact([
      { kind: "host", key: "b", value: "1" },
      { kind: "host", key: "a", value: "2", ifRevision: 0 },
    ]);

    expect(refused).toBeUndefined();
    expect(records.fetchSince(0)).toEqual([a]);
    expect(await records.transact([{ kind: "host", key: "a", value: "2", ifRevision: (a?.revision ?? 0) + 9 }])).toBeUndefined();
    const [changed] = (await records.transact([{ kind: "host", key: "a", value: "2", ifRevision: a?.revision ?? -1 }])) ?? [];
    expect(changed).toMatchObject({ value: "2" });
    expect(await records.transact([{ kind: "host", key: "a", value: undefined }])).toHaveLength(1);
    expect(await records.transact([{ kind: "host", key: "a", value: "3", ifRevision: 0 }])).toHaveLength(1);
  });

  test("accepts only one of 20 concurrent writes with the same condition", async () => {
    const records = await open();

    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => records.transact([{ kind: "host", key: "a", value: String(index), ifRevision: 0 }])),
    );

    expect(results.filter((result) => result !== undefined)).toHaveLength(1);
  });
});

test("a local record store keeps records after a restart, and reports a deleted file", async () => {
  const { store, directory } = await openLocal();
  const stored = await store.records.transact([{ kind: "host", key: "a", value: "1" }]);
  store.close();

  const { store: next } = await openLocal(directory);
  expect(next.records.fetchSince(0)).toEqual(stored);
  await rm(path.join(directory, "keys.db"));

  await expect(next.records.transact([{ kind: "host", key: "b", value: "1" }])).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
});

describe("the record stores of several daemons with one primary", () => {
  test("exchange their records, and accept only one of two conflicting writes", async () => {
    const { url } = await startPrimary();
    const { store: one } = await openReplicatedStore(url);
    const { store: other } = await openReplicatedStore(url);

    const claims = await Promise.all(
      [one, other].map(({ records }, index) => records.transact([{ kind: "host", key: "a", value: `${index}`, ifRevision: 0 }])),
    );

    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    const [winner] = claims.filter((claim) => claim !== undefined);
    await expect.poll(() => other.records.fetchSince(0)).toEqual(winner);
    await expect.poll(() => one.records.fetchSince(0)).toEqual(winner);
  });

  test("call their listeners with exactly the changed records", async () => {
    const { url } = await startPrimary();
    const { store: one } = await openReplicatedStore(url);
    const { store: other } = await openReplicatedStore(url);
    await one.records.transact(Array.from({ length: 600 }, (_, index) => ({ kind: "host", key: `k${index}`, value: "1" })));
    await expect.poll(() => other.records.fetchSince(0)).toHaveLength(600);
    const changes: (readonly StoredRecord[] | "all")[] = [];
    other.records.onChange((changed) => void changes.push(changed));

    const added = await one.records.transact([{ kind: "host", key: "new", value: "2" }]);
    await expect.poll(() => changes).toEqual([added]);
    const removed = await one.records.transact([{ kind: "host", key: "new", value: undefined }]);
    await expect.poll(() => changes).toEqual([added, removed]);
    const own = await other.records.transact([{ kind: "host", key: "k1", value: "3" }]);
    expect(changes.slice(0, 3)).toEqual([added, removed, own]);
  });

  test("create the table for records in a primary that an earlier version created", async () => {
    const primary = await startPrimary();
    const { store } = await openReplicatedStore(primary.url);
    await store.create(newKey());
    expect(store.records.fetchSince(0)).toEqual([]);
    expect(await store.records.transact([{ kind: "host", key: "a", value: "1" }])).toHaveLength(1);
  });

  test("reject changes and keep their records while the primary does not respond", async () => {
    const primary = await startPrimary();
    const { store } = await openReplicatedStore(primary.url);
    await store.records.transact([{ kind: "host", key: "a", value: "1" }]);
    await primary.kill();

    await expect(store.records.transact([{ kind: "host", key: "b", value: "1" }])).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });

    expect(store.records.fetchSince(0)).toHaveLength(1);
  });

  test("receive the records that `daemon migrate-keys` copies to the primary", async () => {
    const { url } = await startPrimary();
    const { store, directory } = await openLocal();
    store.create(newKey());
    await store.records.transact([{ kind: "secret", key: "a", value: '"ciphertext"' }]);
    store.close();

    await moveKeys(path.join(directory, "keys.db"), { url, token: undefined, syncIntervalMs: 100 }, { isDryRun: false });

    const { store: replicated, stateDirectory } = await openReplicatedStore(url);
    await expect.poll(() => replicated.records.fetchSince(0)).toMatchObject([{ kind: "secret", key: "a", value: '"ciphertext"' }]);
    const copy = path.join(await temporaryDirectory(), "keys.db");
    copyReplica(path.join(stateDirectory, "replica/current/keys.db"), copy);
    const database = new Database(copy, { readonly: true });
    onTestFinished(() => void database.close());
    expect(database.prepare("SELECT kind, key, value FROM records").all()).toEqual([{ kind: "secret", key: "a", value: '"ciphertext"' }]);
  });
});
