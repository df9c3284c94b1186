import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import type { ReplicatedKeyStore } from "../../../../src/server/access/replica/replicated-key-store.js";
import { newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

/** Time limit of a rejection. A change fails within 2 s, but a busy machine reports the failure later. */
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

const isWritable = (store: ReplicatedKeyStore) => store.readState().isWritable;

test("a key store keeps its keys, but rejects changes, while the primary is stopped", async () => {
  const sqld = await primary();
  const { store } = await openReplicatedStore(sqld.url);
  const key = newKey();
  const { id } = await store.create(key);
  const delays = monitorEventLoopDelay({ resolution: 1 });
  await sqld.freeze();
  delays.enable();

  const hash = await expectRefused(store, /its primary did not respond within 2 s\. The primary has possibly made the change/);
  await expect(store.revoke(id, 1_700_000_001)).rejects.toThrow(/did not respond/);

  delays.disable();
  expect(store.findByHash(key.hash)).toMatchObject({ id });
  // A blocking sync would delay the event loop for seconds.
  expect(delays.percentile(99) / 1e6).toBeLessThan(250);
  await expect
    .poll(() => store.readState())
    .toMatchObject({
      isReadable: true,
      isWritable: false,
      problem: "the primary of the key store did not respond within 2 s",
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

  await expectRefused(store, /its primary cannot be reached \(ECONNREFUSED\)\. Nothing was changed/);

  expect(store.findByHash(key.hash)).toBeDefined();
  await expect.poll(() => store.readState().problem).toBe("the primary of the key store cannot be reached (ECONNREFUSED)");
  await sqld.restart();
  await expect.poll(() => isWritable(store)).toBe(true);
  const later = newKey();
  await store.create(later);
  expect(store.findByHash(later.hash)).toBeDefined();
  expect(store.readState().replica?.renewals).toBe(0);
});

test("a key store opens without its primary, and has only the keys of its replica", async () => {
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
