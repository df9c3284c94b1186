import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect } from "../../support/connect.js";
import { runInProcess } from "../../support/run-in-process.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";
import { uploadWorker } from "../../support/upload-worker.js";

let instances: SyncedInstances;
let a: TestInstance;
let b: TestInstance;
let c: TestInstance;

beforeAll(async () => {
  instances = await startSyncedInstances();
  [a, b, c] = await Promise.all([instances.start("a"), instances.start("b"), instances.start("c")]);
  const app = "export default { fetch: ({ url }) => new Response('app', { status: url.endsWith('fail') ? 500 : 200 }) };";
  for (const { client } of [a, b, c]) await uploadWorker(client, "app", { "index.js": app });
  await uploadWorker(b.client, "@team/app", { "index.js": app });
  const cron = "cron:\n  - { schedule: '@yearly', endpoint: / }\n  - { schedule: '@yearly', endpoint: /, on: every }\n";
  for (const { client } of [a, b]) await uploadWorker(client, "jobs", { "index.js": app }, cron);
  const states = async () => (await a.client.instances.list()).map(({ state }) => state);
  await vi.waitFor(async () => expect(await states()).toEqual(["ready", "ready", "ready"]), { timeout: soonMs, interval: 50 });
});

afterAll(() => instances.dispose());

async function request({ url }: TestInstance, path: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) await (await fetch(url + path)).text();
}

/** Reads everything that a panel polls. Returns the time that it took in ms. */
async function poll({ client }: TestInstance): Promise<number> {
  const startedMs = performance.now();
  await Promise.all([
    client.metrics.show(),
    client.workers.health(),
    client.metrics.sparklines(),
    client.metrics.history({ query: { range: "1h" } }),
  ]);
  return performance.now() - startedMs;
}

/** Returns the names of the daemons of a result, with the reasons why their values are missing. */
function problemsOf(listed: readonly { name: string; problem?: string | undefined }[] | undefined) {
  return Object.fromEntries((listed ?? []).map(({ name, problem }) => [name, problem]));
}

test(
  "metrics and history show sums over all daemons; health shows the worst state",
  async () => {
    await Promise.all([request(a, "/app/", 3), request(b, "/app/", 4), request(c, "/app/fail", 5), request(b, "/@team/app/", 2)]);

    const metrics = await a.client.metrics.show();
    const app = metrics.workers.find(({ name }) => name === "app");
    expect(app).toMatchObject({ requests: { total: 12, failed: 5 }, isolates: { running: 3 }, latency: { sinceStart: { count: 12 } } });
    expect(metrics.totals.requests.total).toBe(14);
    expect(metrics.instances?.map(({ name, totals }) => [name, totals?.requests.total])).toEqual([
      ["a", 3],
      ["b", 6],
      ["c", 5],
    ]);
    const self = await a.client.metrics.show({ query: { instance: "self" } });
    expect([self.totals.requests.total, self.instances]).toEqual([3, undefined]);
    const ofB = await a.client.metrics.show({ query: { instance: "b" } });
    expect([ofB.totals.requests.total, ofB.instances?.map(({ name }) => name)]).toEqual([6, ["b"]]);
    expect(ofB.daemon.startedAt).toBe(metrics.instances?.find(({ name }) => name === "b")?.daemon?.startedAt);
    await expect(a.client.metrics.show({ query: { instance: "none" } })).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });

    const [health] = await b.client.workers.health({ query: { worker: "app" } });
    expect(health).toMatchObject({ state: "failing", instance: "c", reason: expect.any(String) });
    const states = health?.instances?.map(({ name, state, reason }) => [name, state, reason !== undefined]).toSorted();
    expect(states).toEqual([
      ["a", "ok", false],
      ["b", "ok", false],
      ["c", "failing", true],
    ]);
    const [own] = await b.client.workers.health({ query: { worker: "app", instance: "self" } });
    expect([own?.state, own?.instance, own?.instances]).toEqual(["ok", undefined, undefined]);

    const history = async () => a.client.metrics.history({ query: { range: "1h" } });
    const sum = async () => (await history()).points.requests.reduce((total, count) => total + count, 0);
    await expect.poll(sum, { timeout: 2 * soonMs }).toBe(14);
    const { points, markers, instances: asked } = await history();
    expect(problemsOf(asked)).toEqual({ a: undefined, b: undefined, c: undefined });
    expect(points.incomplete).toHaveLength(points.at.length);
    expect(new Set(markers.flatMap(({ type, instance }) => (type === "start" ? instance : [])))).toEqual(new Set(["a", "b", "c"]));

    const env = { HOME: a.directory, TMPDIR: a.directory, RUNTIMECTL_KEY: a.rootKey };
    const stats = async (...words: string[]) => {
      const { stdout } = await runInProcess(["workers", "stats", "--json", "--url", a.url, ...words], { cwd: a.directory, env });
      return (JSON.parse(stdout) as { totals: { requests: { total: number } } }).totals.requests.total;
    };
    expect([await stats(), await stats("--instance", "c"), await stats("--instance", "self")]).toEqual([14, 5, 3]);
  },
  clusterTestMs,
);

test(
  "a key for one namespace reads metrics of only this namespace, from all daemons",
  async () => {
    const { data } = await a.client.keys.create({ body: { name: "team", role: "viewer", namespaces: ["@team"] } });
    const team = connect(a.url, data.key);
    await expect.poll(async () => problemsOf((await team.metrics.show()).instances)["b"], { timeout: soonMs }).toBeUndefined();

    const metrics = await team.metrics.show();
    expect(metrics.workers.map(({ name }) => name)).toEqual(["@team/app"]);
    expect(metrics.instances?.map(({ daemon }) => daemon?.process)).toEqual([undefined, undefined, undefined]);
    expect(metrics.plugins).toBeUndefined();
    expect((await team.workers.health()).map(({ name, instance }) => [name, instance])).toEqual([["@team/app", "b"]]);
    expect((await team.metrics.sparklines()).map(({ name }) => name).filter((name) => name !== "@team/app")).toEqual([]);
    // The worker is not installed on the daemon that responds.
    const history = await team.metrics.history({ query: { worker: "@team/app", range: "1h" } });
    expect(problemsOf(history.instances)).toEqual({ a: undefined, b: undefined, c: undefined });
    const denied = { code: "NAMESPACE_DENIED" };
    await expect(team.metrics.history({ query: { range: "1h" } })).rejects.toMatchObject(denied);
    await expect(team.metrics.history({ query: { worker: "app" } })).rejects.toMatchObject(denied);
    const unknown = a.client.metrics.history({ query: { worker: "@team/none" } });
    await expect(unknown).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  },
  clusterTestMs,
);

test(
  "metrics name a frozen daemon, which delays only the first request for metrics",
  async () => {
    c.process.kill("SIGSTOP");

    const startedMs = performance.now();
    const metrics = await a.client.metrics.show();
    const tookMs = performance.now() - startedMs;
    const laterMs: number[] = [];
    for (let round = 0; round < 5; round += 1) laterMs.push(await poll(a));
    const [health] = await a.client.workers.health({ query: { worker: "app" } });
    const history = await a.client.metrics.history({ query: { range: "1h" } });
    const named = a.client.metrics.show({ query: { instance: "c" } });

    const silent = "It did not respond within 2 s.";
    expect(problemsOf(metrics.instances)).toEqual({ a: undefined, b: undefined, c: silent });
    expect(problemsOf(health?.instances)).toEqual({ a: undefined, b: undefined, c: silent });
    expect(problemsOf(history.instances)).toEqual({ a: undefined, b: undefined, c: silent });
    expect(new Set(history.points.incomplete)).toEqual(new Set([true]));
    expect(metrics.totals.requests.total).toBe(9);
    await expect(named).rejects.toMatchObject({ code: "INSTANCE_UNAVAILABLE" });
    // The limit is 2 s. The rest is for a slow machine: 5 rounds that each wait for 2 s take 10 s.
    expect(tookMs).toBeLessThan(5_000);
    expect(laterMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(5_000);

    c.process.kill("SIGCONT");
    const problem = async () => problemsOf((await a.client.metrics.show()).instances)["c"];
    await expect.poll(problem, { timeout: soonMs }).toBeUndefined();
    expect((await a.client.metrics.show()).totals.requests.total).toBe(14);
  },
  clusterTestMs,
);

test(
  "a frozen primary delays only the first request for metrics of all daemons",
  async () => {
    await instances.sqld.freeze();

    const laterMs: number[] = [];
    const firstMs = await poll(a);
    for (let round = 0; round < 5; round += 1) laterMs.push(await poll(a));
    const { totals } = await a.client.metrics.show();

    instances.sqld.thaw();
    expect(totals.requests.total).toBe(14);
    expect(firstMs).toBeLessThan(5_000);
    expect(laterMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(5_000);
  },
  clusterTestMs,
);

test(
  "the list of cron jobs contains the runs of every daemon",
  async () => {
    const params = { scope: "_", name: "jobs" };
    await a.client.cron.run({ params: { ...params, index: "0" } });
    await b.client.cron.run({ params: { ...params, index: "1" } });

    const jobs = await a.client.cron.list({ query: { worker: "jobs" } });

    expect(jobs.map(({ index, lastRun, runs }) => [index, lastRun?.instance, runs?.map(({ instance }) => instance)])).toEqual([
      [0, "a", ["a"]],
      [1, "b", ["b"]],
    ]);
    const ofA = await b.client.cron.list({ query: { worker: "jobs", instance: "a" } });
    expect(ofA.map(({ lastRun }) => lastRun?.instance)).toEqual(["a", undefined]);
    const self = await a.client.cron.list({ query: { worker: "jobs", instance: "self" } });
    expect(self.map(({ runs }) => runs?.map(({ instance }) => instance))).toEqual([[undefined], []]);
  },
  clusterTestMs,
);
