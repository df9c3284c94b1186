import { describe, expect, test } from "vitest";
import { createCronHandlers } from "../../../../src/server/api/cron.js";
import { createMetricsHandlers } from "../../../../src/server/api/metrics.js";
import { createWorkerHandlers } from "../../../../src/server/api/workers.js";
import { collectResponses, type KnownInstances } from "../../../../src/server/instances/ask-others.js";
import { ApiError } from "../../../../src/shared/api-error.js";
import type { CronJob, CronRun } from "../../../../src/shared/contract/cron.js";
import type { ShownMetrics } from "../../../../src/shared/contract/metrics.js";
import { counts } from "../../../support/fake-daemon.js";

interface OtherDaemon {
  readonly id: string;
  readonly name?: string;
  readonly isLive?: boolean;
  /** Operations to which the daemon responds. */
  readonly answers?: object;
  readonly problem?: string;
  readonly isReplaced?: boolean;
}

/** Returns this daemon `a` with the name `same`, and other daemons. */
function instancesOf(...others: readonly OtherDaemon[]): KnownInstances {
  const rows = others.map(({ name = "same", ...other }) => ({ ...other, name }));
  const ask = async ({ id }: { id: string }, { call }: { call: (client: object, id: string) => Promise<unknown> }) => {
    const other = rows.find((row) => row.id === id);
    if (other?.problem !== undefined) return { state: "unreachable", problem: other.problem };
    const found = await call(other?.answers ?? {}, id).catch((error: unknown) => error);
    return found instanceof Error ? { state: "unreachable", problem: found.message } : { result: found };
  };
  const registry = {
    own: { id: "a", name: "same" },
    others: () => rows,
    readLive: async () => rows.filter(({ isLive = true }) => isLive),
    isReplaced: ({ isReplaced }: OtherDaemon) => isReplaced === true,
  };
  return { registry, client: { ask } } as unknown as KnownInstances;
}

const restricted = { name: "ci", namespaces: ["@shop"] };
const unrestricted = { name: "root", namespaces: ["*"] };

/** Calls a handler with a query for all daemons. */
async function callWith(handler: unknown, { query, principal }: { query: object; principal: object }): Promise<unknown> {
  return (handler as (input: object) => Promise<unknown>)({ query: { instance: "all", ...query }, key: "k", principal });
}

test("responses identify a daemon by its ID if another daemon has the same name", async () => {
  const instances = instancesOf({ id: "b" }, { id: "c", name: "other" });
  const request = { key: "k", offered: {}, call: async () => 1 };

  const answers = await collectResponses(instances, "all", { request, readOwn: () => 1 });

  expect(answers.map(({ instance }) => instance)).toEqual([
    { id: "a", name: "a" },
    { id: "b", name: "b" },
    { id: "c", name: "other" },
  ]);
});

test("responses omit a daemon that another daemon has replaced", async () => {
  const instances = instancesOf({ id: "b", isLive: false, isReplaced: true }, { id: "c", name: "other", isLive: false });
  const request = { key: "k", offered: {}, call: async () => 1 };

  const responses = await collectResponses(instances, "all", { request, readOwn: () => 1 });

  expect(responses.map(({ instance }) => instance)).toEqual([
    { id: "a", name: "same" },
    { id: "c", name: "other" },
  ]);
});

const run = (at: number): CronRun => ({ at, durationMs: 1, status: 200, outcome: "ok", trigger: "manual" });
const job = (worker: string, runs: readonly CronRun[]) =>
  ({ worker, version: "1", index: 0, on: "every", isRunning: false, lastRun: null, runs: [...runs] }) as unknown as CronJob;

const listJobs = (own: CronJob[], answered: readonly CronJob[], principal: object) => {
  const instances = instancesOf({ id: "b", answers: { cron: { list: async () => answered } } });
  const cronJobs = { list: async () => own, run: async () => run(0) };
  return callWith(createCronHandlers({ cronJobs, instances, isInstalled: () => true }).list, { query: {}, principal });
};

describe("the cron jobs of all daemons", () => {
  test("contain both runs if two daemons of the same name run a job in the same second", async () => {
    const jobs = await listJobs([job("@shop/api", [run(7)])], [job("@shop/api", [run(7)])], unrestricted);
    expect(jobs).toMatchObject([{ runs: [{ instance: "a" }, { instance: "b" }] }]);
  });

  test("contain no workers of other namespaces, and at most 50 runs per daemon", async () => {
    const runs = Array.from({ length: 51 }, (_value, at) => run(100 - at));
    const jobs = await listJobs([], [job("@shop/api", runs), job("@blog/api", [])], restricted);
    expect(jobs).toMatchObject([{ worker: "@shop/api", runs: runs.slice(0, 50) }]);
  });

  test("are merged within 2 s of CPU time if a daemon sends 50,000 copies of one job", async () => {
    const copies = Array.from({ length: 50_000 }, () => job("@shop/api", [run(7)]));
    const before = process.cpuUsage();
    expect(await listJobs([], copies, unrestricted)).toHaveLength(1);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });
});

const health = (name: string) => ({ name, version: "1", state: "ok", since: 1 });

test("the health of all daemons contains no workers of other namespaces", async () => {
  const answers = { workers: { health: async () => [health("@shop/api"), health("@blog/api")] } };
  const options = { instances: instancesOf({ id: "b", answers }), health: { read: () => [] } };
  const handlers = createWorkerHandlers(options as unknown as Parameters<typeof createWorkerHandlers>[0]);

  expect(await callWith(handlers.health, { query: {}, principal: restricted })).toMatchObject([{ name: "@shop/api", instance: "b" }]);
});

const requestsOf = (total: number) => ({ ...counts, requests: { ...counts.requests, total } });

const missingWorker = async () => Promise.reject(new ApiError("WORKER_NOT_FOUND", "No worker."));

describe("the metrics of all daemons", () => {
  const harmless = { version: "1", startedAt: 1, uptimeSeconds: 1, eventLoopLag: { p50Ms: 0, p99Ms: 0, maximumMs: 0 } };
  const none = { count: 0, p50Ms: null, p90Ms: null, p99Ms: null, maximumMs: null };
  const worker = (name: string, total: number) => {
    const latency = { recent: { ...none, windowSeconds: 60 }, sinceStart: none };
    return { ...requestsOf(total), name, version: "1", kind: "module" as const, latency };
  };
  const points = { at: [60], requests: [1], failed: [0], p50Ms: [null], p99Ms: [null], memoryBytes: [1], cpuSeconds: [0], isolates: [1] };
  const history = { stepSeconds: 60, points, markers: [{ at: 1, type: "start" }] };
  const shown: ShownMetrics = {
    daemon: { ...harmless, unknownPathRequests: 5 },
    totals: requestsOf(10),
    workers: [worker("@shop/api", 3), worker("@blog/api", 7)],
    plugins: [{ plugin: "gateway", counters: [] }],
  };

  const answering = (metrics: object) => ({
    metrics: { show: async () => shown, history: async () => history, sparklines: async () => [], ...metrics },
  });
  const handlersWith = (hasWorker: boolean, ...others: readonly OtherDaemon[]) => {
    const metrics = { workers: async () => [], daemon: () => harmless, plugins: () => [] };
    const own = { read: async () => history, sparklines: () => [{ name: "@shop/api", requests: [1], failed: [0] }] };
    const options = { metrics, history: own, instances: instancesOf(...others), isInstalled: () => hasWorker };
    return createMetricsHandlers(options as unknown as Parameters<typeof createMetricsHandlers>[0]);
  };

  test("contain for a restricted key only its namespaces, and no plugin metrics", async () => {
    const { show } = handlersWith(true, { id: "b", answers: answering({}) });
    const query = { detail: "workers" };

    const all = (await callWith(show, { query, principal: unrestricted })) as ShownMetrics;
    const permitted = (await callWith(show, { query, principal: restricted })) as ShownMetrics;

    expect([all.workers.length, all.totals.requests.total, all.instances?.[1]?.daemon]).toEqual([2, 10, shown.daemon]);
    expect(permitted.workers.map(({ name }) => name)).toEqual(["@shop/api"]);
    expect([permitted.totals.requests.total, permitted.instances?.[1]?.daemon]).toEqual([3, harmless]);
    expect(permitted).not.toHaveProperty("plugins");
  });

  test("contain only sparklines of workers in the namespaces of the key", async () => {
    const lines = ["@shop/a", "@blog/a"].map((name) => ({ name, requests: [1], failed: [0] }));
    const { sparklines } = handlersWith(true, { id: "b", answers: answering({ sparklines: async () => lines }) });
    expect(await callWith(sparklines, { query: {}, principal: restricted })).toMatchObject([{ name: "@shop/a" }, { name: "@shop/api" }]);
  });

  const query = { worker: "@shop/api", range: "24h" };
  const readHistory = (hasWorker: boolean, ...others: readonly OtherDaemon[]) =>
    callWith(handlersWith(hasWorker, ...others).history, { query, principal: unrestricted });

  test("reject an unknown worker with INSTANCE_UNAVAILABLE if a daemon is unreachable", async () => {
    const without = { id: "b", answers: answering({ history: missingWorker }) };
    await expect(readHistory(false, without, { id: "c", problem: "It is away." })).rejects.toMatchObject({
      code: "INSTANCE_UNAVAILABLE",
      message: expect.stringContaining("the daemon c gives no usable response. It is away.") as string,
    });
    await expect(readHistory(false, without)).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    await expect(readHistory(false, without, { id: "c", isLive: false })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });

  test("are incomplete if a running daemon is unreachable, but not if it has stopped", async () => {
    const [away, gone] = [
      { id: "b", problem: "It is away." },
      { id: "b", isLive: false },
    ];
    expect(await readHistory(true, away)).toMatchObject({ points: { incomplete: [true] } });
    expect(await readHistory(true, gone)).toMatchObject({
      points: { incomplete: [false] },
      instances: [{}, { problem: "It was stopped, or has sent no heartbeat for 30 s." }],
    });
  });

  test("report a problem for a daemon that sends an invalid history", async () => {
    const long = { ...history, points: { ...points, at: [60, 120] } };
    const found = await readHistory(true, { id: "b", answers: answering({ history: async () => long }) });
    expect(found).toMatchObject({ instances: [{ id: "a" }, { id: "b", problem: "The response contains more than a daemon records." }] });
  });

  test("have markers with the daemon's ID if another daemon has the same name", async () => {
    const found = await readHistory(true, { id: "b", answers: answering({}) });
    expect(found).toMatchObject({ markers: [{ instance: "a" }, { instance: "b" }] });
  });
});
