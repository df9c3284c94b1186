import { expect, onTestFinished, test, vi } from "vitest";
import { Primary, type SqlRow, type Statement } from "../../../../src/server/access/replica/primary-client.js";
import { Replica } from "../../../../src/server/access/replica/replica.js";
import type { ReplicaReader } from "../../../../src/server/access/replica/replica-database.js";
import { backUpPrimary } from "../../../support/back-up-primary.js";
import { keysInReplica, newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

async function startPrimary(): Promise<{ sqld: Sqld; client: Primary }> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  const client = await Primary.at({ url: sqld.url, token: undefined });
  onTestFinished(() => client.close());
  onTestFinished(() => void vi.restoreAllMocks());
  return { sqld, client };
}

/** Interval that is longer than a test, so no poll of the daemon detects a change. */
const neverMs = 10 * 60_000;
const { fetchAgain, sync } = Replica.prototype as {
  readonly fetchAgain: (this: Replica) => Promise<ReplicaReader>;
  readonly sync: (this: Replica) => Promise<void>;
};
const { read } = Primary.prototype as { readonly read: (this: Primary, ...statements: Statement[]) => Promise<SqlRow[][]> };
const failed = new Error("the connection was lost");

test("changes that are made while the replica is fetched again stay valid", async () => {
  const { sqld, client } = await startPrimary();
  const { store, stateDirectory } = await openReplicatedStore(sqld.url);
  const [revoked, created] = [newKey("revoked"), newKey("created")];
  const { id } = await store.create(revoked);
  await expect.poll(() => keysInReplica(stateDirectory)).toBe(1);
  const afterwards = vi.fn(async () => Promise.reject(failed));
  vi.spyOn(Replica.prototype, "fetchAgain").mockImplementation(async function (this: Replica) {
    const reader = await fetchAgain.call(this);
    await store.revoke(id, 1_700_000_001);
    await store.create(created);
    await store.records.transact([{ kind: "host", key: "a", value: "{}" }]);
    vi.spyOn(Replica.prototype, "sync").mockImplementation(afterwards);
    return reader;
  });

  await client.write({ sql: "UPDATE key_store SET epoch = 'that of a resync'", values: [] });

  await expect.poll(() => afterwards.mock.calls.length).toBeGreaterThan(0);
  expect(store.findByHash(revoked.hash)).toBeUndefined();
  expect(store.findByHash(created.hash)).toBeDefined();
  expect(store.records.fetchSince(0)).toMatchObject([{ key: "a" }]);
  vi.restoreAllMocks();
  await expect.poll(() => store.readState().isWritable).toBe(true);
  expect(store.list().map(({ name }) => name)).toEqual(["created"]);
});

test("a diverged daemon rejects a key whose revocation arrived in a failed sync", async () => {
  const { sqld } = await startPrimary();
  const a = await openReplicatedStore(sqld.url);
  const b = await openReplicatedStore(sqld.url);
  const key = newKey();
  const { id } = await a.store.create(key);
  await expect.poll(() => b.store.findByHash(key.hash)).toBeDefined();
  const restore = await backUpPrimary(sqld);
  await expect.poll(() => a.store.readState().isWritable && b.store.readState().isWritable).toBe(true);
  vi.spyOn(Replica.prototype, "sync").mockImplementation(async function (this: Replica) {
    await sync.call(this);
    throw failed;
  });

  await a.store.revoke(id, 1_700_000_001);

  await expect.poll(() => b.store.findByHash(key.hash)).toBeUndefined();
  await restore();
  await expect
    .poll(() => b.store.readState().divergence)
    .toMatchObject({
      missingCount: 1,
      missing: [{ changes: [expect.stringMatching(/, revoked$/)] }],
    });
  expect(b.store.findByHash(key.hash)).toBeUndefined();
});

test("the resync `from-cache` fails if the primary has all rows of the daemon", async () => {
  const { sqld, client } = await startPrimary();
  const a = await openReplicatedStore(sqld.url);
  await a.store.create(newKey("first"));
  const behind = await openReplicatedStore(sqld.url, { syncIntervalMs: neverMs });
  await a.store.create(newKey("second"));
  const restore = await backUpPrimary(sqld);
  await expect.poll(() => a.store.readState().isWritable).toBe(true);
  await a.store.create(newKey("third"));
  for (const step of ["sync", "fetchAgain"] as const) vi.spyOn(Replica.prototype, step).mockRejectedValue(failed);
  // The daemon requests the newest revision, because the condition of the change is not met.
  expect(await behind.store.records.transact([{ kind: "host", key: "a", value: "{}", ifRevision: 1 }])).toBeUndefined();
  await expect.poll(() => behind.store.readState().problem).toMatch(/cannot be fetched/);
  await restore();
  await expect(behind.store.create(newKey("rejected"))).rejects.toMatchObject({ code: "INDEX_DIVERGED", details: { missing: [] } });

  await expect(behind.store.resync("from-cache")).rejects.toMatchObject({ code: "INDEX_NOT_DIVERGED", status: 409 });

  const [keys] = await client.read({ sql: "SELECT name FROM keys ORDER BY id", values: [] });
  expect(keys).toEqual([{ name: "first" }, { name: "second" }]);
  expect(behind.store.readState().divergence).toMatchObject({ kind: "restored" });
});

test("a daemon reports which of its changes a simultaneous resync has replaced", async () => {
  const { sqld, client } = await startPrimary();
  const { store } = await openReplicatedStore(sqld.url);
  const key = newKey("during");
  await store.create(newKey("kept"));
  let isFirst = true;
  vi.spyOn(Primary.prototype, "read").mockImplementation(async function (this: Primary, ...statements) {
    if (isFirst && statements[0]?.sql.includes("markThere")) {
      isFirst = false;
      await store.create(key);
      await client.write(
        { sql: "DELETE FROM keys WHERE name = 'during'", values: [] },
        {
          sql: "UPDATE key_revisions SET mark = 'another', revision = revision + 1 WHERE revision = (SELECT max(revision) FROM key_revisions)",
          values: [],
        },
        { sql: "UPDATE key_store SET epoch = 'that of a resync'", values: [] },
      );
    }
    return read.call(this, ...statements);
  });

  await expect
    .poll(() => store.readState().divergence)
    .toMatchObject({
      kind: "other-epoch",
      missing: [{ changes: [expect.stringMatching(/"during"/)] }],
    });

  expect(store.findByHash(key.hash)).toBeDefined();
});
