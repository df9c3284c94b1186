import { expect, onTestFinished, test } from "vitest";
import { Primary, type SqlRow } from "../../../../src/server/access/replica/primary-client.js";
import type { ReplicatedKeyStore } from "../../../../src/server/access/replica/replicated-key-store.js";
import { backUpPrimary, emptyPrimary } from "../../../support/back-up-primary.js";
import { keysInReplica, newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

async function primary(): Promise<{ sqld: Sqld; tables: () => Promise<SqlRow[]>; rowsIn: (table: string) => Promise<SqlRow[]> }> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  const client = await Primary.at({ url: sqld.url, token: undefined });
  onTestFinished(() => client.close());
  const rowsOf = async (sql: string) => (await client.read({ sql, values: [] }))[0] ?? [];
  return {
    sqld,
    tables: () => rowsOf("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' AND name NOT LIKE 'libsql%'"),
    rowsIn: (table) => rowsOf(`SELECT * FROM ${table}`),
  };
}

const kindOf = (store: ReplicatedKeyStore) => store.readState().divergence?.kind;
const lease = { name: "cron a 1", queue: "cron a", slotMs: Date.now(), token: "t", detail: "{}" };

/** Expects that all changes are rejected with the missing revisions. */
async function expectRejected(store: ReplicatedKeyStore, keyId: number): Promise<void> {
  const { divergence } = store.readState();
  const changes = [
    () => store.create(newKey("rejected")),
    () => store.revoke(keyId, 1_700_000_009),
    () => store.rotate(keyId, newKey("twin"), 1_700_000_009),
    () => store.records.transact([{ kind: "worker-version", key: "a@1", value: "{}" }]),
    () => store.leases.take(lease),
    () => store.leases.settle([]),
  ];
  const before = store.list();
  for (const change of changes)
    await expect((async () => change())()).rejects.toMatchObject({ code: "INDEX_DIVERGED", status: 503, details: divergence });
  expect(store.list()).toEqual(before);
}

test("daemons keep their rows and reject changes when an old primary is restored", async () => {
  const { sqld, rowsIn } = await primary();
  const a = await openReplicatedStore(sqld.url);
  const b = await openReplicatedStore(sqld.url);
  const [kept, revoked] = [await a.store.create(newKey("kept")), await a.store.create(newKey("revoked"))];
  const restore = await backUpPrimary(sqld);
  await expect.poll(() => a.store.readState().isWritable).toBe(true);
  const { revision } = await a.store.create(newKey("added")).then(async () => (await rowsIn("keys")).at(-1) as { revision: number });
  await a.store.revoke(revoked.id, 1_700_000_001);
  await a.store.records.transact([
    { kind: "worker-version", key: "shop@1.0.0", value: "{}" },
    { kind: "path", key: "/shop", value: "{}" },
    { kind: "archive", key: "sha256:1", value: "{}" },
  ]);
  await expect.poll(() => b.store.records.fetchSince(0)).toHaveLength(3);
  await restore();
  const before = [await rowsIn("keys"), await rowsIn("key_revisions")];

  for (const { store, divergences } of [a, b]) {
    await expect.poll(() => kindOf(store)).toBe("restored");

    expect(store.list().map(({ name }) => name)).toEqual(["kept", "added"]);
    expect(store.readState()).toMatchObject({
      isReadable: true,
      isWritable: false,
      problem: expect.stringMatching(/was restored from an older state and lacks 3 revisions of this daemon/),
      divergence: {
        missingCount: 3,
        missing: [
          { revision: revision + 2, changes: ["worker shop@1.0.0"] },
          { revision: revision + 1, changes: [`key ${revoked.id} "revoked", revoked`] },
          { revision, changes: [expect.stringMatching(/^key \d+ "added"$/)] },
        ],
      },
    });
    await expectRejected(store, kept.id);
    expect(divergences).toEqual(["restored"]);
  }

  expect([await rowsIn("keys"), await rowsIn("key_revisions")]).toEqual(before);
  await b.store.close();
  const again = await openReplicatedStore(sqld.url, { stateDirectory: b.stateDirectory });
  expect(again.store.readState().divergence).toMatchObject({ missingCount: 3 });
  expect(again.store.list().map(({ name }) => name)).toEqual(["kept", "added"]);
});

test("after a restore of the primary, the first change fails with INDEX_DIVERGED", async () => {
  const { sqld, rowsIn } = await primary();
  const { store } = await openReplicatedStore(sqld.url, { syncIntervalMs: 60_000 });
  const { id } = await store.create(newKey("kept"));
  const restore = await backUpPrimary(sqld);
  await store.create(newKey("added"));
  await restore();

  await expect(store.revoke(id, 1_700_000_001)).rejects.toMatchObject({ code: "INDEX_DIVERGED", details: { missingCount: 1 } });

  expect(await rowsIn("keys")).toMatchObject([{ name: "kept", revoked_at: null }]);
});

test("daemons keep their rows and write nothing when the primary is emptied", async () => {
  const { sqld, tables } = await primary();
  const { store, stateDirectory } = await openReplicatedStore(sqld.url, { syncIntervalMs: 60_000 });
  const { id } = await store.create(newKey("kept"));
  await expect.poll(() => keysInReplica(stateDirectory)).toBe(1);
  await emptyPrimary(sqld);

  await expect(store.records.transact([{ kind: "host", key: "a", value: "1" }])).rejects.toMatchObject({ code: "INDEX_DIVERGED" });
  expect(store.readState().divergence).toMatchObject({ kind: "emptied", missing: [{ changes: [`key ${id} "kept"`] }] });
  await expectRejected(store, id);
  expect(await tables()).toEqual([]);

  await store.close();
  const again = await openReplicatedStore(sqld.url, { stateDirectory });
  expect(kindOf(again.store)).toBe("emptied");
  expect(again.store.list()).toHaveLength(1);
  expect(await tables()).toEqual([]);
});

test("a daemon with keys does not use an emptied primary that another daemon filled", async () => {
  const { sqld } = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  const { id } = await store.create(newKey("kept"));
  await emptyPrimary(sqld);
  const other = await openReplicatedStore(sqld.url);
  await other.store.create(newKey("other"));

  await expect.poll(() => kindOf(store)).toBe("other-epoch");

  await expectRejected(store, id);
  expect(store.list().map(({ name }) => name)).toEqual(["kept"]);
  expect(other.store.list().map(({ name }) => name)).toEqual(["other"]);
});

test("a daemon accepts changes again when its primary has the missing changes again", async () => {
  const { sqld } = await primary();
  const { store, divergences } = await openReplicatedStore(sqld.url);
  await store.create(newKey("kept"));
  const restoreOld = await backUpPrimary(sqld);
  await expect.poll(() => store.readState().isWritable).toBe(true);
  await store.create(newKey("added"));
  const restoreNew = await backUpPrimary(sqld);
  await restoreOld();
  await expect.poll(() => kindOf(store)).toBe("restored");

  await restoreNew();

  await expect.poll(() => store.readState().isWritable).toBe(true);
  expect(divergences).toEqual(["restored", undefined]);
  await store.create(newKey("later"));
  expect(store.list().map(({ name }) => name)).toEqual(["kept", "added", "later"]);
});
