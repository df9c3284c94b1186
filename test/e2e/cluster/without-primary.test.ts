import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { parseExposition } from "../../support/parse-exposition.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

const promisedLoopDelaySeconds = 0.05;

async function primary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  return sqld;
}

async function startOn({ url }: Sqld, directory?: string): Promise<TestDaemon> {
  const env = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "200ms" };
  const daemon = await startDaemon({ env, ...(directory !== undefined && { directory }) });
  onTestFinished(daemon.dispose);
  return daemon;
}

const clientOf = ({ url, rootKey }: TestDaemon) => connect(url, rootKey);
const statusWith = async ({ url }: TestDaemon, key: string) =>
  (await fetch(`${url}/api/workers`, { headers: { "X-API-Key": key } })).status;

test("a daemon serves, but rejects key changes, while its primary does not respond", async () => {
  const sqld = await primary();
  const daemon = await startOn(sqld);
  const client = clientOf(daemon);
  const { data } = await client.keys.create({ body: { name: "stays", role: "editor" } });
  await sqld.freeze();
  const answers: number[] = [];

  const refused = client.keys.create({ body: { name: "too bad", role: "viewer" } }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const done = new AbortController();
  void refused.then(() => done.abort());
  while (!done.signal.aborted) answers.push(await statusWith(daemon, data.key));

  expect(await refused).toMatchObject({ code: "KEY_STORE_UNAVAILABLE", retryAfterSeconds: undefined });
  expect(answers.length).toBeGreaterThan(5);
  expect(new Set(answers)).toEqual(new Set([200]));
  const { daemon: numbers } = await client.metrics.show({ query: { detail: "totals" } });
  // The median, because the maximum includes other load of the machine; a blocking sync would raise the median as well.
  expect(numbers.eventLoopLag.p50Ms / 1000).toBeLessThan(promisedLoopDelaySeconds);
  sqld.thaw();
  await expect
    .poll(() => client.keys.create({ body: { name: "later", role: "viewer" } }).catch(() => undefined))
    .toMatchObject({ success: true });
  expect((await client.keys.list()).keys.map(({ name }) => name)).toEqual(["stays", "later"]);
});

test("health checks and metrics report a lost primary to a key with keys:read", async () => {
  const sqld = await primary();
  const daemon = await startOn(sqld);
  const client = clientOf(daemon);
  const { data } = await client.keys.create({
    body: { name: "without keys:read", role: "custom", permissions: ["workers:read"] },
  });
  expect(await client.health.ready({ query: { verbose: "1" } })).toMatchObject({
    ok: true,
    status: "ready",
    checks: expect.arrayContaining(
      ["key-store", "key-replica", "worker-directory"].map((name) => expect.objectContaining({ name, status: "ok" })),
    ),
  });
  expect(await client.health.ready()).not.toHaveProperty("checks");
  expect(await connect(daemon.url, data.key).health.ready({ query: { verbose: "1" } })).not.toHaveProperty("checks");
  expect(await connect(daemon.url, "nobody").health.ready({ query: { verbose: "1" } })).not.toHaveProperty("checks");

  await sqld.kill();

  const message = "the primary of the key store cannot be reached (ECONNREFUSED)";
  await expect
    .poll(() => client.health.ready({ query: { verbose: "1" } }))
    .toMatchObject({ ok: true, status: "ready", checks: expect.arrayContaining([{ name: "key-store", status: "degraded", message }]) });
  const samples = parseExposition(await client.metrics.text());
  const valueOf = (name: string) => samples.get(name)?.samples[0]?.value;
  expect(valueOf("runtimed_key_store_usable")).toBe(0);
  expect(valueOf("runtimed_key_replica_lag_seconds")).toBeGreaterThan(0);
  expect(valueOf("runtimed_key_replica_failed_syncs_total")).toBeGreaterThan(0);
  expect(valueOf("runtimed_key_replica_renewals_total")).toBe(0);
});

test("a daemon without a replica accepts only the root key until its primary responds", async () => {
  const sqld = await primary();
  const other = await startOn(sqld);
  const { data } = await clientOf(other).keys.create({ body: { name: "known to others", role: "viewer" } });
  await sqld.kill();

  const daemon = await startOn(sqld);

  expect((await clientOf(daemon).keys.list()).keys).toEqual([]);
  expect(await statusWith(daemon, data.key)).toBe(401);
  const withoutKey = await fetch(`${daemon.url}/api/health/ready?verbose=1`);
  expect(withoutKey.status).toBe(503);
  const { error } = (await withoutKey.json()) as { error: { message: string; details?: unknown } };
  expect(error.message).toContain("the key store has no keys yet");
  expect(error.details).toBeUndefined();
  await expect(clientOf(daemon).health.ready({ query: { verbose: "1" } })).rejects.toMatchObject({
    code: "NOT_READY",
    details: {
      checks: expect.arrayContaining([{ name: "key-store", status: "failed", message: expect.stringContaining("ECONNREFUSED") }]),
    },
  });
  await sqld.restart();
  await expect.poll(() => statusWith(daemon, data.key)).toBe(200);
  expect(await clientOf(daemon).health.ready()).toMatchObject({ ok: true });
});

test("a daemon emits events when another daemon creates or revokes a key", async () => {
  const sqld = await primary();
  const [a, b] = [await startOn(sqld), await startOn(sqld)];
  const ending = new AbortController();
  const seen: object[] = [];
  const follow = async () => {
    const events = clientOf(b).events.stream.follow({ query: { type: "key", instance: "self" } }, { signal: ending.signal });
    for await (const event of events) seen.push(event);
  };
  const following = follow().catch(() => undefined);
  await expect.poll(() => seen).toHaveLength(1);

  const { data } = await clientOf(a).keys.create({ body: { name: "seen from afar", role: "viewer" } });
  await expect.poll(() => seen.at(-1)).toMatchObject({ type: "key.created" });
  await clientOf(a).keys.revoke({ params: { id: String(data.id) } });

  await expect.poll(() => seen.at(-1)).toMatchObject({ type: "key.revoked" });
  for (const event of seen.slice(1)) {
    expect(event).toMatchObject({ subject: { id: data.id, name: "seen from afar" }, message: "by another daemon" });
    expect(event).not.toHaveProperty("principal");
  }
  expect(JSON.stringify(seen)).not.toContain(data.key);
  ending.abort();
  await following;
});
