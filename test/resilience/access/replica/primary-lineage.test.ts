import { expect, onTestFinished, test } from "vitest";
import { Primary, type SqlRow } from "../../../../src/server/access/replica/primary-client.js";
import { createLog } from "../../../../src/server/log/log.js";
import { backUpPrimary } from "../../../support/back-up-primary.js";
import { newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

/** One more than the 10,000 revisions that the primary keeps. */
const prunedRevisions = 10_001;
/** Interval that is longer than a test, so no poll detects the restored primary before the test's change. */
const neverMs = 10 * 60_000;

async function startPrimary(): Promise<{ sqld: Sqld; client: Primary }> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  const client = await Primary.at({ url: sqld.url, token: undefined });
  onTestFinished(() => client.close());
  return { sqld, client };
}

async function rowsOf(client: Primary, sql: string): Promise<SqlRow[]> {
  const [rows = []] = await client.read({ sql, values: [] });
  return rows;
}

test("a replica older than all revisions of the primary is copied again", async () => {
  const { sqld, client } = await startPrimary();
  const lines: string[] = [];
  const log = createLog({ level: "warn", form: (line) => (lines.push(line), "") });
  const a = await openReplicatedStore(sqld.url, { log });
  const b = await openReplicatedStore(sqld.url);
  const early = newKey("early");
  const { id } = await a.store.create(early);
  await expect.poll(() => b.store.findByHash(early.hash)).toBeDefined();
  await a.store.close();
  await b.store.revoke(id, 1_700_000_001);
  const late = newKey("late");
  await b.store.create(late);
  const newest = "(SELECT max(revision) FROM key_revisions)";
  await client.write(
    {
      sql: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${prunedRevisions})
        INSERT INTO key_revisions SELECT ${newest} + i, 'mark ' || i, '' FROM n`,
      values: [],
    },
    { sql: `DELETE FROM key_revisions WHERE revision <= ${newest} - 10000`, values: [] },
  );

  const again = await openReplicatedStore(sqld.url, { stateDirectory: a.stateDirectory, log });

  await expect.poll(() => again.store.readState()).toMatchObject({ isWritable: true, replica: { renewals: 1 } });
  // The daemon b possibly received the revisions by a sync that had started before.
  for (const { store } of [again, b]) {
    await expect.poll(() => store.readState().isWritable).toBe(true);
    expect(store.findByHash(early.hash)).toBeUndefined();
    expect(store.findByHash(late.hash)).toBeDefined();
  }
  expect(lines.join("")).toContain("the replica is older than all revisions that the primary keeps");
  expect(lines.join("")).not.toMatch(/was restored|lacks/);
  expect(again.divergences).toEqual([]);
  const later = newKey("later");
  await again.store.create(later);
  expect(again.store.findByHash(later.hash)).toBeDefined();
});

test("a restored primary rejects changes of a daemon that has newer data", async () => {
  const { sqld, client } = await startPrimary();
  const { store } = await openReplicatedStore(sqld.url, { syncIntervalMs: neverMs });
  const kept = newKey("kept");
  const { id } = await store.create(kept);
  const restore = await backUpPrimary(sqld);
  const lost = newKey("lost");
  await store.create(lost);
  await restore();
  const before = await rowsOf(client, "SELECT * FROM keys");
  const revisions = await rowsOf(client, "SELECT * FROM key_revisions");

  const refused = {
    code: "INDEX_DIVERGED",
    status: 503,
    message: expect.stringMatching(/^Nothing was changed\. The primary of the key store was restored from an older state/),
  };
  const results = await Promise.allSettled([
    store.create(newKey("refused")),
    store.revoke(id, 1_700_000_001),
    store.records.transact([{ kind: "host", key: "a", value: "1" }]),
  ]);

  expect(results).toEqual(results.map(() => ({ status: "rejected", reason: expect.objectContaining(refused) })));
  expect(await rowsOf(client, "SELECT * FROM keys")).toEqual(before);
  expect(await rowsOf(client, "SELECT * FROM key_revisions")).toEqual(revisions);
  expect(store.findByHash(lost.hash)).toBeDefined();
  expect(store.findByHash(kept.hash)).toBeDefined();
});

test("a restored primary accepts changes of a daemon that has no newer data", async () => {
  const { sqld } = await startPrimary();
  const { store: other } = await openReplicatedStore(sqld.url);
  const kept = newKey("kept");
  await other.create(kept);
  const { store } = await openReplicatedStore(sqld.url, { syncIntervalMs: neverMs });
  const restore = await backUpPrimary(sqld);
  const lost = newKey("lost");
  await other.create(lost);
  await restore();

  const key = newKey("accepted");
  await store.create(key);

  expect(store.findByHash(key.hash)).toBeDefined();
  await expect.poll(() => other.readState().divergence).toMatchObject({ kind: "restored", missingCount: 1 });
  expect(other.findByHash(key.hash)).toBeUndefined();
  expect(other.findByHash(lost.hash)).toBeDefined();
});
