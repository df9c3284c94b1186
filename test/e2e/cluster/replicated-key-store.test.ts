import { expect, onTestFinished, test } from "vitest";
import { newKey, openReplicatedStore } from "../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

async function primary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  return sqld;
}

test("two key stores that open an empty primary simultaneously share all keys", async () => {
  const { url } = await primary();
  const [a, b] = await Promise.all([openReplicatedStore(url), openReplicatedStore(url)]);
  const [one, other] = [newKey("one"), newKey("other")];

  const [madeOnA, madeOnB] = await Promise.all([a.store.create(one), b.store.create(other)]);

  expect(madeOnA.id).not.toBe(madeOnB.id);
  for (const { store } of [a, b]) {
    await expect.poll(() => store.list()).toHaveLength(2);
    expect(store.findByHash(one.hash)).toEqual(madeOnA);
    expect(store.findByHash(other.hash)).toEqual(madeOnB);
    expect(store.readState()).toMatchObject({ mode: "sync", isReadable: true, isWritable: true, problem: undefined });
  }
});

test("a key store has its new key immediately, and other key stores have the key later", async () => {
  const { url } = await primary();
  const a = await openReplicatedStore(url);
  const b = await openReplicatedStore(url);
  const key = newKey("shared");
  const { id } = await a.store.create(key);
  expect(a.store.findByHash(key.hash)).toMatchObject({ id, name: "shared", namespaces: ["@team"] });
  await expect.poll(() => b.store.findByHash(key.hash)).toEqual(a.store.findByHash(key.hash));

  const replacement = newKey("shared");
  const stored = await a.store.rotate(id, replacement, replacement.createdAt + 60);

  expect(a.store.find(id)?.expiresAt).toBe(replacement.createdAt + 60);
  await expect.poll(() => b.store.find(id)?.expiresAt).toBe(replacement.createdAt + 60);
  expect(b.store.findByHash(replacement.hash)).toEqual(stored);

  expect(await b.store.revoke(id, 1_700_000_100)).toBe(true);

  expect(b.store.findByHash(key.hash)).toBeUndefined();
  await expect.poll(() => a.store.findByHash(key.hash)).toBeUndefined();
  expect(await a.store.revoke(id, 1_700_000_101)).toBe(false);
  expect(a.heard).toEqual([{ type: "key.revoked", id, name: "shared", namespaces: ["@team"] }]);
  const replacementId = stored?.id;
  expect(b.heard).toEqual([
    { type: "key.created", id, name: "shared", namespaces: ["@team"] },
    { type: "key.rotated", id, name: "shared", namespaces: ["@team"] },
    { type: "key.created", id: replacementId, name: "shared", namespaces: ["@team"] },
  ]);
});

test("a rotation without a grace period revokes the old key in every key store", async () => {
  const { url } = await primary();
  const a = await openReplicatedStore(url);
  const b = await openReplicatedStore(url, { syncIntervalMs: 60_000 });
  const key = newKey();
  const { id } = await b.store.create(key);
  await expect.poll(() => a.store.find(id)).toBeDefined();
  const replacement = newKey();

  const stored = await a.store.rotate(id, replacement, replacement.createdAt);

  expect(a.store.list()).toEqual([stored]);
  // This replica still has the old key, but the primary rejects changes of the key.
  expect(b.store.find(id)).toBeDefined();
  expect(await b.store.rotate(id, newKey(), 1_800_000_000)).toBeUndefined();
  expect(await b.store.revoke(id, 1_700_000_001)).toBe(false);
  const c = await openReplicatedStore(url);
  expect(c.store.list()).toEqual([stored]);
});

test("key stores replicate the time of a key's last use and ignore earlier times", async () => {
  const { url } = await primary();
  const a = await openReplicatedStore(url);
  const b = await openReplicatedStore(url);
  const { id } = await a.store.create(newKey());
  await expect.poll(() => b.store.find(id)).toBeDefined();
  a.store.markUsed(id, 1_700_000_500);
  b.store.markUsed(id, 1_700_000_900);

  // A store writes its collected times of use when it closes.
  await a.store.close();
  const c = await openReplicatedStore(url);
  expect(c.store.find(id)?.lastUsedAt).toBe(1_700_000_500);
  await b.store.close();

  await expect.poll(() => c.store.find(id)?.lastUsedAt).toBe(1_700_000_900);
  expect(c.heard).toEqual([]);
});

test("key stores replicate 600 keys to a running store and to a new store", async () => {
  const { url } = await primary();
  const a = await openReplicatedStore(url);
  const b = await openReplicatedStore(url);
  const keys = Array.from({ length: 600 }, (_, index) => newKey(`key ${index}`));
  const pending = [...keys];
  const makeSome = async () => {
    for (let key = pending.pop(); key; key = pending.pop()) await a.store.create(key);
  };
  await Promise.all([makeSome(), makeSome(), makeSome(), makeSome()]);

  await expect.poll(() => b.store.keyCount, { timeout: 30_000 }).toBe(keys.length);

  const c = await openReplicatedStore(url);
  expect(c.store.keyCount).toBe(keys.length);
  expect(c.store.list()).toEqual(a.store.list());
  expect(b.store.list()).toEqual(a.store.list());
}, 90_000);
