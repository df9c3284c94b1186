import { expect, onTestFinished, test } from "vitest";
import type { ReplicatedKeyStore } from "../../../../src/server/access/replica/replicated-key-store.js";
import { backUpPrimary, emptyPrimary } from "../../../support/back-up-primary.js";
import { keysInReplica, newKey, openReplicatedStore, revisionInReplica, type OpenedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

/** Interval that is longer than a test, so no poll of the daemon detects a change. */
const neverMs = 10 * 60_000;

async function primary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  return sqld;
}

const namesIn = (store: ReplicatedKeyStore) => store.list().map(({ name }) => name);
const hostsIn = (store: ReplicatedKeyStore) =>
  store.records
    .fetchSince(0)
    .filter(({ value }) => value !== undefined)
    .map(({ key }) => key);
const isWritable = (store: ReplicatedKeyStore) => store.readState().isWritable;
const addHost = (store: ReplicatedKeyStore, key: string) => store.records.transact([{ kind: "host", key, value: "{}" }]);

/** Opens daemons with the keys `kept` and `added`, and a primary that lacks `added`, the host `b` and the revocation of `revoked`. */
async function openDiverged(count: number): Promise<{ sqld: Sqld; daemons: OpenedStore[] }> {
  const sqld = await primary();
  const daemons = [];
  for (let index = 0; index < count; index += 1) daemons.push(await openReplicatedStore(sqld.url));
  const { store } = daemons[0] as OpenedStore;
  await store.create(newKey("kept"));
  const { id } = await store.create(newKey("revoked"));
  await addHost(store, "a");
  const restore = await backUpPrimary(sqld);
  await expect.poll(() => isWritable(store)).toBe(true);
  await store.revoke(id, 1_700_000_001);
  await store.create(newKey("added"));
  const [{ revision } = { revision: 0 }] = (await addHost(store, "b")) ?? [];
  for (const { stateDirectory } of daemons) await expect.poll(() => revisionInReplica(stateDirectory)).toBe(revision);
  for (const each of daemons) await expect.poll(() => hostsIn(each.store)).toEqual(["a", "b"]);
  await restore();
  for (const each of daemons) await expect.poll(() => each.store.readState().divergence?.missingCount).toBe(3);
  return { sqld, daemons };
}

test("the resync `accept-primary` replaces a daemon's rows by the primary's rows", async () => {
  const { sqld, daemons } = await openDiverged(2);
  const [a, b] = daemons as [OpenedStore, OpenedStore];

  const accepted: boolean[] = [];
  a.store.records.onChange((changed, isAccepted) => void (changed === "all" && accepted.push(isAccepted)));

  expect(await a.store.resync("accept-primary")).toEqual({ keys: 2, records: 1 });

  expect(accepted).toEqual([true]);
  expect(namesIn(a.store)).toEqual(["kept", "revoked"]);
  expect(hostsIn(a.store)).toEqual(["a"]);
  await expect.poll(() => isWritable(a.store)).toBe(true);
  await a.store.create(newKey("later"));
  expect(b.store.readState().divergence).toMatchObject({ kind: "restored" });
  expect(namesIn(b.store)).toEqual(["kept", "added"]);
  await a.store.close();
  const again = await openReplicatedStore(sqld.url, { stateDirectory: a.stateDirectory });
  expect(namesIn(again.store)).toEqual(["kept", "revoked", "later"]);
  expect(isWritable(again.store)).toBe(true);
});

test("the resync `from-cache` writes a daemon's rows to the primary for all daemons", async () => {
  const { sqld, daemons } = await openDiverged(2);
  const [a, b] = daemons as [OpenedStore, OpenedStore];

  expect(await a.store.resync("from-cache")).toEqual({ keys: 2, records: 2 });

  const fresh = await openReplicatedStore(sqld.url);
  for (const { store } of [a, b, fresh]) {
    await expect.poll(() => isWritable(store)).toBe(true);
    expect(namesIn(store)).toEqual(["kept", "added"]);
    expect(hostsIn(store)).toEqual(["a", "b"]);
  }
  expect(b.divergences).toEqual(["restored", undefined]);
  const key = newKey("later");
  const { id } = await b.store.create(key);
  await expect.poll(() => fresh.store.findByHash(key.hash)?.id).toBe(id);
  await expect(a.store.resync("from-cache")).rejects.toMatchObject({ code: "INDEX_NOT_DIVERGED", status: 409 });
});

test("the resync `from-cache` replaces changes made in the restored primary", async () => {
  const { sqld, daemons } = await openDiverged(1);
  const [a] = daemons as [OpenedStore];
  const forked = await openReplicatedStore(sqld.url);
  for (const name of ["one", "two", "three", "four", "five"]) await forked.store.create(newKey(name));
  // The keys `kept`, `revoked` and five others.
  await expect.poll(() => keysInReplica(forked.stateDirectory)).toBe(7);

  const failedSyncs = () => a.store.readState().replica?.failedSyncs ?? 0;
  const before = failedSyncs();
  await expect.poll(failedSyncs).toBeGreaterThan(before + 1);
  expect(a.divergences).toEqual(["restored"]);
  await a.store.resync("from-cache");

  await expect.poll(() => forked.store.readState().divergence?.missingCount).toBe(5);
  expect(namesIn(forked.store)).toContain("five");
  expect(await forked.store.resync("accept-primary")).toEqual({ keys: 2, records: 2 });
  expect(namesIn(forked.store)).toEqual(["kept", "added"]);
});

test("the resync `from-cache` writes a daemon's rows to an emptied primary", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  await store.create(newKey("kept"));
  const { id } = await store.create(newKey("revoked"));
  await store.revoke(id, 1_700_000_001);
  await emptyPrimary(sqld);
  await expect.poll(() => store.readState().divergence?.kind).toBe("emptied");

  await store.resync("from-cache");

  const fresh = await openReplicatedStore(sqld.url);
  expect(namesIn(fresh.store)).toEqual(["kept"]);
  await expect.poll(() => isWritable(store)).toBe(true);
  const created = await store.create(newKey("later"));
  expect(created.id).toBe(id + 1);
});

test("the resync `accept-primary` deletes a daemon's keys if the primary is empty", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  await store.create(newKey("given up"));
  await emptyPrimary(sqld);
  await expect.poll(() => store.readState().divergence?.kind).toBe("emptied");

  expect(await store.resync("accept-primary")).toEqual({ keys: 0, records: 0 });

  await expect.poll(() => isWritable(store)).toBe(true);
  await store.create(newKey("new"));
  expect(namesIn(store)).toEqual(["new"]);
});

test("after a resync, a daemon with additional rows is diverged and names these rows", async () => {
  const sqld = await primary();
  const a = await openReplicatedStore(sqld.url);
  await a.store.create(newKey("kept"));
  const restore = await backUpPrimary(sqld);
  await expect.poll(() => isWritable(a.store)).toBe(true);
  await a.store.create(newKey("added"));
  const more = await openReplicatedStore(sqld.url, { syncIntervalMs: neverMs });
  expect(namesIn(more.store)).toEqual(["kept", "added"]);
  await a.store.close();
  const { id } = await more.store.create(newKey("more"));
  await restore();
  const again = await openReplicatedStore(sqld.url, { stateDirectory: a.stateDirectory });
  await expect.poll(() => again.store.readState().divergence?.missingCount).toBe(1);

  await again.store.resync("from-cache");

  await expect(more.store.revoke(id, 1_700_000_001)).rejects.toMatchObject({
    code: "INDEX_DIVERGED",
    details: { kind: "other-epoch", missingCount: 1, missing: [{ changes: [`key ${id} "more"`] }] },
  });
  expect(namesIn(more.store)).toEqual(["kept", "added", "more"]);
});

test.each(["from-cache", "accept-primary"] as const)("the resync `%s` fails after a resync by another daemon", async (mode) => {
  const { sqld, daemons } = await openDiverged(1);
  const [a] = daemons as [OpenedStore];
  const more = await openReplicatedStore(sqld.url, { syncIntervalMs: neverMs });
  const restore = await backUpPrimary(sqld);
  const { id } = await more.store.create(newKey("more"));
  await restore();
  await expect(more.store.revoke(id, 1_700_000_002)).rejects.toMatchObject({ code: "INDEX_DIVERGED" });
  await expect.poll(() => a.store.readState().problem).toMatch(/was restored/);
  await a.store.resync("from-cache");

  await expect(more.store.resync(mode)).rejects.toMatchObject({ code: "CHANGE_CONFLICT", message: expect.stringMatching(/was replaced/) });

  expect(namesIn(more.store)).toContain("more");
  const fresh = await openReplicatedStore(sqld.url);
  expect(namesIn(fresh.store)).toEqual(["kept", "added"]);
});

test("only one of two simultaneous resyncs succeeds; both daemons then accept changes", async () => {
  for (let round = 0; round < 3; round += 1) {
    const { daemons } = await openDiverged(2);

    const results = await Promise.allSettled(daemons.map(({ store }) => store.resync("from-cache")));

    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const rejected = results.find((result) => result.status === "rejected");
    expect(rejected?.reason).toMatchObject({ code: expect.stringMatching(/^(CHANGE_CONFLICT|INDEX_NOT_DIVERGED)$/) });
    for (const { store } of daemons) {
      await expect.poll(() => isWritable(store)).toBe(true);
      expect(namesIn(store)).toEqual(["kept", "added"]);
      await store.create(newKey("unused")).then(({ id }) => store.revoke(id, 1_700_000_002));
    }
  }
});

test("a resync without a divergence fails and changes nothing", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  await store.create(newKey("kept"));

  for (const mode of ["from-cache", "accept-primary"] as const)
    await expect(store.resync(mode)).rejects.toMatchObject({ code: "INDEX_NOT_DIVERGED" });

  expect(store.readState()).toMatchObject({ isWritable: true, replica: { renewals: 0 } });
});

test("a resync fails and keeps the daemon's rows while the primary is stopped", async () => {
  const { sqld, daemons } = await openDiverged(1);
  const [{ store }] = daemons as [OpenedStore];
  await sqld.kill();

  for (const mode of ["from-cache", "accept-primary"] as const)
    await expect(store.resync(mode)).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE", status: 503 });

  expect(namesIn(store)).toEqual(["kept", "added"]);
  await sqld.restart();
  await expect.poll(() => store.readState().problem).toMatch(/was restored/);
  expect(store.readState().divergence).toMatchObject({ missingCount: 3 });
});
