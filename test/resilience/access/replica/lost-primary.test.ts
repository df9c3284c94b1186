import { cp, mkdir, rm } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { ReplicaReader } from "../../../../src/server/access/replica/replica-database.js";
import type { ReplicatedKeyStore } from "../../../../src/server/access/replica/replicated-key-store.js";
import { newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

/** A change fails within 2 s. A busy machine needs longer to report it. */
const patienceMs = 6_000;

async function primary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  return sqld;
}

/** Expects that a change is rejected in time and that nothing changed. */
async function expectRefused(store: ReplicatedKeyStore, why: RegExp): Promise<string> {
  const before = store.list();
  const key = newKey("refused");
  const startedAt = performance.now();

  const refusal = await store.create(key).catch((error: unknown) => error);

  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({ code: "KEY_STORE_UNAVAILABLE", status: 503, message: expect.stringMatching(why) });
  expect(performance.now() - startedAt).toBeLessThan(patienceMs);
  expect(store.list()).toEqual(before);
  return key.hash;
}

/** Returns the number of keys that a daemon would have if it started now without its primary. */
function keysInReplica(stateDirectory: string): number {
  const reader = new ReplicaReader(path.join(stateDirectory, "replica/current/keys.db"));
  try {
    return reader.activeAfter(0, 1_000).length;
  } finally {
    reader.close();
  }
}

const isWritable = (store: ReplicatedKeyStore) => store.readState().isWritable;

test("a key store keeps its keys, but rejects changes, while the primary is stopped", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  const key = newKey();
  const { id } = await store.create(key);
  const delays = monitorEventLoopDelay({ resolution: 1 });
  await sqld.freeze();
  delays.enable();

  const hash = await expectRefused(store, /its primary did not answer within 2 s\. Nothing was changed/);
  await expect(store.revoke(id, 1_700_000_001)).rejects.toThrow(/did not answer/);

  delays.disable();
  expect(store.findByHash(key.hash)).toMatchObject({ id });
  // A blocking sync would delay the event loop for seconds.
  expect(delays.percentile(99) / 1e6).toBeLessThan(250);
  await expect
    .poll(() => store.readState())
    .toMatchObject({
      isReadable: true,
      isWritable: false,
      problem: "the primary of the key store did not answer within 2 s",
    });
  sqld.thaw();
  await expect.poll(() => isWritable(store)).toBe(true);
  const other = newKey();
  await store.create(other);
  const { store: next } = await openReplicatedStore(sqld.url);
  expect(next.findByHash(hash)).toBeUndefined();
  expect(next.findByHash(key.hash)).toMatchObject({ id });
  expect(next.findByHash(other.hash)).toBeDefined();
});

test("a key store accepts changes again when the primary responds again", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  const key = newKey();
  await store.create(key);
  await sqld.kill();

  await expectRefused(store, /its primary cannot be reached \(ECONNREFUSED\)/);

  expect(store.findByHash(key.hash)).toBeDefined();
  await expect.poll(() => store.readState().problem).toBe("the primary of the key store cannot be reached (ECONNREFUSED)");
  await sqld.restart();
  await expect.poll(() => isWritable(store)).toBe(true);
  const later = newKey();
  await store.create(later);
  expect(store.findByHash(later.hash)).toBeDefined();
  expect(store.readState().replica?.renewals).toBe(0);
});

test("a key store opens without its primary, and uses a replica's keys if one exists", async () => {
  const sqld = await primary();
  const first = await openReplicatedStore(sqld.url);
  const key = newKey();
  await first.store.create(key);
  const other = await openReplicatedStore(sqld.url);
  await first.store.close();
  await sqld.kill();
  const startedAt = performance.now();

  const again = await openReplicatedStore(sqld.url, { stateDirectory: other.stateDirectory });
  const without = await openReplicatedStore(sqld.url);

  expect(performance.now() - startedAt).toBeLessThan(patienceMs);
  expect(again.store.findByHash(key.hash)).toBeDefined();
  expect(again.store.readState()).toMatchObject({ isReadable: true, isWritable: false, replica: { lagSeconds: undefined } });
  expect(without.store.keyCount).toBe(0);
  expect(without.store.readState()).toMatchObject({
    isReadable: false,
    problem: "the primary of the key store cannot be reached (ECONNREFUSED)",
  });
  await expectRefused(again.store, /cannot be reached/);
  await sqld.restart();
  await expect.poll(() => without.store.findByHash(key.hash)).toBeDefined();
  expect(without.store.readState()).toMatchObject({ isReadable: true });
});

test("a key store detects that its primary was restored, and loads the restored keys", async () => {
  const sqld = await primary();
  const a = await openReplicatedStore(sqld.url);
  const b = await openReplicatedStore(sqld.url);
  const kept = newKey("kept");
  await a.store.create(kept);
  await sqld.kill();
  const backup = path.join(await temporaryDirectory(), "data");
  await cp(path.join(sqld.directory, "data"), backup, { recursive: true });
  await sqld.restart();
  await expect.poll(() => isWritable(a.store)).toBe(true);
  const lost = newKey("lost");
  await a.store.create(lost);
  await expect.poll(() => b.store.findByHash(lost.hash)).toBeDefined();
  await sqld.kill();
  await rm(path.join(sqld.directory, "data"), { recursive: true });
  await cp(backup, path.join(sqld.directory, "data"), { recursive: true });
  await sqld.restart();

  for (const { store } of [a, b]) {
    await expect.poll(() => store.readState().replica?.renewals).toBe(1);
    await expect.poll(() => store.findByHash(lost.hash)).toBeUndefined();
    expect(store.findByHash(kept.hash)).toBeDefined();
  }
  const later = newKey("later");
  await a.store.create(later);
  await expect.poll(() => b.store.findByHash(later.hash)).toBeDefined();
});

test("a key store keeps its keys but rejects changes when the primary becomes empty", async () => {
  const sqld = await primary();
  const { store, stateDirectory } = await openReplicatedStore(sqld.url);
  const key = newKey();
  await store.create(key);
  await expect.poll(() => keysInReplica(stateDirectory)).toBe(1);
  await sqld.kill();
  await rm(path.join(sqld.directory, "data"), { recursive: true });
  await mkdir(path.join(sqld.directory, "data"));
  await sqld.restart();

  await expect.poll(() => store.readState().problem).toMatch(/^the primary of the key store is empty, though it had keys/);

  await expectRefused(store, /its primary is empty, though it had keys/);
  expect(store.findByHash(key.hash)).toBeDefined();
  expect(store.readState()).toMatchObject({ isReadable: true, isWritable: false, replica: { renewals: 0 } });
  await store.close();
  const again = await openReplicatedStore(sqld.url, { stateDirectory });
  expect(again.store.findByHash(key.hash)).toBeDefined();
  expect(again.store.readState().problem).toMatch(/is empty/);
  // Another daemon creates new keys there. This daemon keeps its own keys.
  await openReplicatedStore(sqld.url);
  await expect.poll(() => again.store.readState().problem).toMatch(/has other keys than before/);
  expect(again.store.findByHash(key.hash)).toBeDefined();
  await expectRefused(again.store, /has other keys than before/);
});
