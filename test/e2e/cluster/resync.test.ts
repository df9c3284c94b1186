import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backUpPrimary } from "../../support/back-up-primary.js";
import { connect } from "../../support/connect.js";
import { keysInReplica } from "../../support/open-replicated-store.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

/** A busy machine starts a daemon and a primary slowly. */
const testMs = 90_000;

const clientOf = ({ url, rootKey }: TestDaemon) => connect(url, rootKey);

async function startOn({ url }: Sqld): Promise<TestDaemon> {
  const env = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "200ms" };
  const daemon = await startDaemon({ env });
  onTestFinished(daemon.dispose);
  return daemon;
}

const statusWith = async ({ url }: TestDaemon, key: string) =>
  (await fetch(`${url}/api/workers`, { headers: { "X-API-Key": key } })).status;

/** Starts a daemon with the keys `scoped`, `editor` and `added`, whose primary lacks `added` and the revocation of `revoked`. */
async function startDiverged() {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  const daemon = await startOn(sqld);
  const { keys, index } = clientOf(daemon);
  const create = async (body: Parameters<typeof keys.create>[0]["body"]) => (await keys.create({ body })).data;
  const scoped = await create({ name: "scoped", role: "admin", namespaces: ["@team"] });
  const editor = await create({ name: "editor", role: "editor" });
  const revoked = await create({ name: "revoked", role: "viewer" });
  const restore = await backUpPrimary(sqld);
  await expect.poll(async () => (await index.show()).problem).toBeNull();
  await keys.revoke({ params: { id: String(revoked.id) } });
  const added = await create({ name: "added", role: "viewer" });
  // A sync that runs during the restore could replace the revoked key in the replica by the restored row.
  await expect.poll(() => keysInReplica(path.join(daemon.directory, "state"))).toBe(added.id);
  await restore();
  await expect.poll(() => index.show()).toMatchObject({ divergence: { missingCount: 2 } });
  return { sqld, daemon, scoped, editor, revoked, added };
}

test("`resync --from-cache` writes a daemon's keys back to a restored primary", { timeout: testMs }, async () => {
  const { sqld, daemon, scoped, editor, revoked, added } = await startDiverged();
  const client = clientOf(daemon);
  expect(await statusWith(daemon, revoked.key)).toBe(401);
  expect(await statusWith(daemon, added.key)).toBe(200);

  const rejected = client.keys.create({ body: { name: "rejected", role: "viewer" } });
  const changes = [{ changes: [`key ${added.id} "added"`] }, { changes: [`key ${revoked.id} "revoked", revoked`] }];
  await expect(rejected).rejects.toMatchObject({ code: "INDEX_DIVERGED", details: { missingCount: 2, missing: changes } });
  const { checks } = await client.health.ready({ query: { verbose: "1" } });
  const message = expect.stringMatching(/was restored from an older state and lacks 2 revisions of this daemon/) as string;
  expect(checks).toContainEqual({ name: "key-store", status: "degraded", message });
  const doctor = await runRuntimectl(daemon, ["doctor"]);
  expect(doctor.stdout).toMatch(/key-store.*lacks 2 revisions[^]*runtimectl daemon resync/);
  // Other namespaces are not visible to a restricted key.
  const ofTeam = connect(daemon.url, scoped.key);
  const restricted = await ofTeam.keys
    .create({ body: { name: "x", role: "viewer", namespaces: ["@team"] } })
    .catch((error: unknown) => error);
  expect(restricted).toMatchObject({ code: "INDEX_DIVERGED", details: undefined });

  expect((await runRuntimectl(daemon, ["status"])).stdout).toMatch(/degraded +key-store: .*lacks 2 revisions/);
  const listed = await runRuntimectl(daemon, ["daemon", "resync"]);
  expect(listed.status).toBe(2);
  expect(listed.stderr).toContain(`key ${revoked.id} "revoked", revoked`);
  const unconfirmed = await runRuntimectl(daemon, ["daemon", "resync", "--from-cache"]);
  expect(unconfirmed.status).toBe(2);
  expect(unconfirmed.stderr).toContain(`key ${added.id} "added"`);
  const both = await runRuntimectl(daemon, ["daemon", "resync", "--from-cache", "--accept-primary", "--yes"]);
  expect(both.status).toBe(2);
  for (const other of [ofTeam, connect(daemon.url, editor.key)])
    await expect(other.index.resync({ body: { mode: "from-cache" } })).rejects.toMatchObject({ status: 403 });
  await expect(ofTeam.index.show()).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
  expect((await client.index.show()).divergence?.missingCount).toBe(2);

  const resynced = await runRuntimectl(daemon, ["daemon", "resync", "--from-cache", "--yes", "--json"]);

  // The record is the entry of the daemon in the list of instances.
  expect(JSON.parse(resynced.stdout)).toEqual({ mode: "from-cache", keys: 3, records: 1 });
  expect(await client.index.show()).toEqual({ mode: "sync", problem: null, divergence: null });
  const fresh = await startOn(sqld);
  expect([await statusWith(fresh, added.key), await statusWith(fresh, revoked.key)]).toEqual([200, 401]);
  await clientOf(fresh).keys.create({ body: { name: "later", role: "viewer" } });
  const again = await runRuntimectl(daemon, ["daemon", "resync", "--from-cache", "--yes"]);
  expect(again.status).toBe(7);
  const list = await runRuntimectl(daemon, ["daemon", "resync"]);
  expect([list.status, list.stderr]).toEqual([7, expect.stringContaining("the primary already has all revisions of this daemon")]);
  const { entries } = await client.audit.list({ query: { action: "index" } });
  expect(entries.map(({ action, outcome }) => [action, outcome])).toContainEqual(["index.resynced", "done"]);
});

test("`resync --accept-primary` copies the primary's keys and emits an event", { timeout: testMs }, async () => {
  const { daemon, revoked, added } = await startDiverged();
  const client = clientOf(daemon);

  const run = await runRuntimectl(daemon, ["daemon", "resync", "--accept-primary", "--yes"]);

  expect(run.status, run.stderr).toBe(0);
  expect([await statusWith(daemon, revoked.key), await statusWith(daemon, added.key)]).toEqual([200, 401]);
  const ending = new AbortController();
  const seen: string[] = [];
  for await (const { type, message } of client.events.stream.follow({ query: { type: "index", since: "1h" } }, { signal: ending.signal })) {
    seen.push(type);
    if (type === "index.diverged") expect(message).toMatch(/lacks 2 revisions/);
    if (type === "index.resynced") break;
  }
  expect(seen.slice(-2)).toEqual(["index.diverged", "index.resynced"]);
});
