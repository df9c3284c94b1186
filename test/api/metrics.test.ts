import { once } from "node:events";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import autocannon from "autocannon";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOutput } from "../../src/shared/contract/endpoint.js";
import type { show, WorkerMetrics } from "../../src/shared/contract/metrics.js";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { parseExposition, type Family } from "../support/parse-exposition.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

type Metrics = CallOutput<typeof show>;

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon?.dispose());

async function install(name: string, files: Record<string, string>, manifest = "", version = "1.0.0"): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": `${manifestOf(name, version)}\n${manifest}`, ...files });
  await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

const app = (body: string): Record<string, string> => ({ "index.js": `export default { fetch: async (request) => { ${body} } };` });

async function get(target: string, init?: RequestInit): Promise<number> {
  const response = await fetch(daemon.url + target, { redirect: "manual", ...init });
  await response.arrayBuffer();
  return response.status;
}

async function rowOf(name: string, version: string | null = "1.0.0"): Promise<WorkerMetrics | undefined> {
  const { workers } = await root.metrics.show({ query: { worker: name } });
  return workers.find((worker) => worker.version === version);
}

async function scrape(key = daemon.rootKey): Promise<Map<string, Family>> {
  const response = await fetch(`${daemon.url}/api/metrics`, { headers: { "x-api-key": key } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parseExposition(await response.text());
}

function valueOf(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ""));
  const wanted = Object.entries(labels);
  return family?.samples.find((sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value))?.value;
}

describe("request metrics", () => {
  test("count each request exactly once under load, in JSON and in Prometheus format", async () => {
    await install("busy", app("return new Response(await request.text() + 'ok');"));
    const { "2xx": answered, errors } = await autocannon({
      url: `${daemon.url}/busy/`,
      method: "POST",
      body: "12345",
      connections: 8,
      amount: 2000,
    });
    expect({ answered, errors }).toEqual({ answered: 2000, errors: 0 });

    const row = (await rowOf("busy")) as WorkerMetrics;
    expect(row.requests).toMatchObject({ total: 2000, inFlight: 0, queued: 0, byStatus: { "2xx": 2000, "5xx": 0, aborted: 0 } });
    expect(row).toMatchObject({ kind: "module", errors: { total: 0, byCode: {} }, isolates: { running: 1, starting: 0, draining: 0 } });
    expect(row).toMatchObject({ requestBodyBytes: 10_000, responseBodyBytes: 14_000, openSockets: 0 });
    const { sinceStart, recent } = row.latency;
    expect(sinceStart.count).toBe(2000);
    expect(recent.count).toBe(2000);
    expect(row.requests.perSecond).toBeCloseTo(2000 / recent.windowSeconds, 5);
    const { p50Ms, p90Ms, p99Ms, maximumMs } = sinceStart;
    expect([p50Ms, p90Ms, p99Ms, maximumMs]).toEqual([p50Ms, p90Ms, p99Ms, maximumMs].toSorted((a, b) => Number(a) - Number(b)));
    expect(row.memory.rssBytes).toBeGreaterThan(10_000_000);
    expect(row.cpuSeconds).toBeGreaterThan(0);

    const families = await scrape();
    const labels = { worker: "busy", version: "1.0.0" };
    expect(valueOf(families, "runtimed_worker_requests_total", { ...labels, code: "2xx" })).toBe(2000);
    expect(valueOf(families, "runtimed_worker_request_duration_seconds_count", labels)).toBe(2000);
    expect(valueOf(families, "runtimed_worker_isolates", { ...labels, state: "running" })).toBe(1);
    expect(valueOf(families, "runtimed_worker_memory_bytes", { ...labels, kind: "rss" })).toBeGreaterThan(10_000_000);
    expect(valueOf(families, "runtimed_worker_answer_body_bytes_total", labels)).toBe(14_000);
  });

  test("count requests to the control panel separately and exclude them from totals", async () => {
    const before = (await root.metrics.show({ query: { detail: "totals" } })).totals;
    for (let request = 0; request < 3; request += 1) expect(await get("/cpanel/")).toBe(200);

    expect((await root.metrics.show({ query: { worker: "cpanel" } })).totals.requests.total).toBeGreaterThanOrEqual(3);
    const { totals } = await root.metrics.show({ query: { detail: "totals" } });
    expect(totals.requests.total).toBe(before.requests.total);
  });

  test("count requests by status class", async () => {
    await install("statuses", app("return new Response(null, { status: Number(new URL(request.url).pathname.slice(1)) });"));
    const statuses = [200, 204, 301, 304, 400, 404, 404, 418, 500, 503];
    for (const status of statuses) expect(await get(`/statuses/${status}`)).toBe(status);
    expect(await get("/statuses")).toBe(308);

    const { requests } = (await rowOf("statuses")) as WorkerMetrics;
    expect(requests.total).toBe(11);
    expect(requests.byStatus).toEqual({ "1xx": 0, "2xx": 2, "3xx": 3, "4xx": 4, "5xx": 2, aborted: 0 });
  });

  test("count requests to a static site like requests to a module", async () => {
    await install("site", { "index.html": "page", "large.bin": "x".repeat(3_000_000) });
    const statuses = [await get("/site/"), await get("/site/"), await get("/site/large.bin"), await get("/site/none"), await get("/site")];
    statuses.push(await get("/site/", { method: "POST" }), await get("/site/", { headers: { range: "bytes=9-" } }));
    expect(statuses).toEqual([200, 200, 200, 404, 308, 405, 416]);

    await expect.poll(async () => (await rowOf("site"))?.requests.total).toBe(7);
    const row = (await rowOf("site")) as WorkerMetrics;
    expect(row).toMatchObject({ kind: "static", isolates: { running: 0 }, memory: { rssBytes: 0 } });
    expect(row.requests).toMatchObject({ inFlight: 0, byStatus: { "2xx": 3, "3xx": 1, "4xx": 3 } });
    expect(row.errors.byCode).toEqual({ NOT_FOUND: 1, METHOD_NOT_ALLOWED: 1 });
  });

  test("count an open request as in flight, and as aborted after the client disconnects", async () => {
    await install("slow", app("if (request.url.endsWith('/now')) return new Response(); await new Promise(() => {});"));
    expect(await get("/slow/now")).toBe(200);
    const waiting = [1, 2, 3].map(() => httpRequest(`${daemon.url}/slow/later`).on("error", () => undefined));
    for (const request of waiting) request.end();
    await expect.poll(async () => (await rowOf("slow"))?.requests.inFlight).toBe(3);

    for (const request of waiting) request.destroy();

    await expect.poll(async () => (await rowOf("slow"))?.requests.inFlight).toBe(0);
    expect((await rowOf("slow"))?.requests.byStatus).toMatchObject({ "2xx": 1, "5xx": 0, aborted: 3 });
  });
});

describe("error metrics", () => {
  test("count a 5xx or an incomplete response as a failure, but not a 4xx response", async () => {
    await install(
      "unwell",
      app(`
        const { pathname } = new URL(request.url);
        if (pathname === "/throw") throw new Error("no");
        if (pathname !== "/cut") return new Response(null, { status: Number(pathname.slice(1)) });
        return new Response(new ReadableStream({ async start(c) { c.enqueue(new Uint8Array(9)); setTimeout(() => c.error(1), 50); } }));
      `),
    );
    for (const path of ["200", "404", "418", "500", "503", "throw"]) await get(`/unwell/${path}`);
    await expect(get("/unwell/cut")).rejects.toThrow();

    await expect.poll(async () => (await rowOf("unwell"))?.requests.total).toBe(7);
    const { requests, latency } = (await rowOf("unwell")) as WorkerMetrics;
    expect(requests.failed).toBe(4);
    expect(requests.failedPerSecond).toBeCloseTo(4 / latency.recent.windowSeconds, 5);
    const families = await scrape();
    expect(valueOf(families, "runtimed_worker_failed_requests_total", { worker: "unwell" })).toBe(4);
    const { totals, workers } = await root.metrics.show({});
    expect(totals.requests.failed).toBe(workers.reduce((sum, worker) => sum + worker.requests.failed, 0));
  });

  const faults: readonly (readonly [code: string, name: string, files: Record<string, string>, manifest: string])[] = [
    ["WORKER_CRASHED", "crashing", app("process.exit(1);"), ""],
    ["WORKER_TIMEOUT", "hanging", app("await new Promise(() => {});"), "timeout: 200ms"],
    ["WORKER_BAD_RESPONSE", "throwing", app("throw new Error('no');"), ""],
    ["WORKER_START_FAILED", "broken", { "index.js": "this is no code" }, ""],
    ["PAYLOAD_TOO_LARGE", "narrow", app("return new Response(await request.text());"), "maxBodySize: 10"],
  ];

  test.each(faults)("count exactly one error when a request fails with the code %s", async (code, name, files, manifest) => {
    await install(name, files, manifest);
    const status = await get(`/${name}/`, { method: "POST", body: "more than ten bytes" });

    const row = (await rowOf(name)) as WorkerMetrics;
    expect(row.errors).toEqual({ total: 1, byCode: { [code]: 1 } });
    expect(row.requests).toMatchObject({ total: 1, inFlight: 0, byStatus: { [`${Math.floor(status / 100)}xx`]: 1 } });
    expect(valueOf(await scrape(), "runtimed_worker_errors_total", { worker: name, error: code })).toBe(1);
  });

  test("count WORKER_POOL_SATURATED for each request that arrives at a full queue", async () => {
    const held: ServerResponse[] = [];
    const gate = createServer((_request, response) => void held.push(response)).listen(0, "127.0.0.1");
    await once(gate, "listening");
    const code = `await fetch("http://127.0.0.1:${(gate.address() as AddressInfo).port}/"); export default { fetch: () => new Response() };`;
    await install("crowded", { "index.js": code });
    const waiting = Array.from({ length: 1024 }, () => get("/crowded/"));
    await expect.poll(async () => (await rowOf("crowded"))?.requests.queued).toBe(1024);

    const refused = await Promise.all(Array.from({ length: 5 }, () => get("/crowded/")));
    await expect.poll(() => held.length).toBeGreaterThan(0);
    for (const response of held) response.end();
    gate.close();

    expect(refused).toEqual(Array(5).fill(503));
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]));
    const row = (await rowOf("crowded")) as WorkerMetrics;
    expect(row.requests).toMatchObject({ total: 1029, queued: 0, inFlight: 0, byStatus: { "2xx": 1024, "5xx": 5 } });
    expect(row.errors.byCode).toEqual({ WORKER_POOL_SATURATED: 5 });
  });

  test("count an incomplete response by its status and as the error WORKER_BAD_RESPONSE", async () => {
    await install(
      "cut",
      app(
        "return new Response(new ReadableStream({ async start(c) { c.enqueue(new Uint8Array(9)); await 0; setTimeout(() => c.error(1), 50); } }));",
      ),
    );
    await expect(get("/cut/")).rejects.toThrow();

    await expect.poll(async () => (await rowOf("cut"))?.requests.byStatus["2xx"]).toBe(1);
    expect((await rowOf("cut"))?.errors.byCode).toEqual({ WORKER_BAD_RESPONSE: 1 });
  });

  test("count 404 responses per worker, and those of unknown paths under one label", async () => {
    await install("hidden", app("return new Response();"));
    expect(await get("/hidden/")).toBe(200);
    await root.workers.disable({ params: { scope: "_", name: "hidden", version: "1.0.0" } });
    const before = (await root.metrics.show({})).daemon.unknownPathRequests as number;

    expect([await get("/hidden/"), await get("/hidden@3/"), await get("/nobody/"), await get("/nobody/else")]).toEqual([
      404, 404, 404, 404,
    ]);

    expect(await rowOf("hidden", null)).toMatchObject({
      requests: { total: 2, byStatus: { "4xx": 2 } },
      errors: { byCode: { NOT_FOUND: 2 } },
    });
    expect(await rowOf("hidden")).toMatchObject({ requests: { total: 1 } });
    expect((await root.metrics.show({})).daemon.unknownPathRequests).toBe(before + 2);
    expect(valueOf(await scrape(), "runtimed_unknown_path_requests_total")).toBe(before + 2);
  });
});

describe("the metrics of a worker", () => {
  test("continue after the worker is replaced and disappear after its deletion", async () => {
    await install("fleeting", app("return new Response('1');"));
    expect(await rowOf("fleeting")).toBeUndefined();
    expect(await get("/fleeting/")).toBe(200);
    await install("fleeting", app("return new Response('2');"));
    expect(await get("/fleeting/")).toBe(200);
    expect(await rowOf("fleeting")).toMatchObject({ requests: { total: 2 } });

    await root.workers.remove({ params: { scope: "_", name: "fleeting" } });

    await expect.poll(async () => (await root.metrics.show({ query: { worker: "fleeting" } })).workers).toEqual([]);
    expect(valueOf(await scrape(), "runtimed_worker_requests_total", { worker: "fleeting" })).toBeUndefined();
  });
});

describe("the metrics that a key restricted to a namespace can read", () => {
  test("contain no data of workers in other namespaces", async () => {
    await install("@team/app", app("return new Response();"));
    await install("@other/app", app("return new Response();"));
    await Promise.all([get("/@team/app/"), get("/@other/app/"), get("/nobody/")]);
    const { key } = (await root.keys.create({ body: { name: "team", role: "viewer", namespaces: ["@team"] } })).data;
    const shown: Metrics = await connect(daemon.url, key).metrics.show({});

    expect(shown.workers.map(({ name }) => name)).toEqual(["@team/app"]);
    expect(shown.plugins, "counters of plugins can contain data of others").toBeUndefined();
    expect((await root.metrics.show({})).plugins).toBeDefined();
    expect((await root.metrics.show({ query: { detail: "totals" } })).plugins).toBeUndefined();
    expect(shown.totals.requests.total).toBe(1);
    expect(Object.keys(shown.daemon).toSorted()).toEqual(["eventLoopLag", "startedAt", "uptimeSeconds", "version"]);
    expect((await connect(daemon.url, key).metrics.show({ query: { worker: "@other/app" } })).workers).toEqual([]);

    const families = await scrape(key);
    const workers = new Set([...families.values()].flatMap(({ samples }) => samples.flatMap(({ labels }) => labels["worker"] ?? [])));
    expect([...workers]).toEqual(["@team/app"]);
    const others = [...families.keys()].filter((name) => !name.startsWith("runtimed_worker_"));
    expect(others).toEqual(["runtimed_info", "runtimed_start_time_seconds", "runtimed_event_loop_lag_seconds"]);
  });
});

describe("the metrics of the daemon", () => {
  test("contain values for the daemon's process, its isolates and its uploads", async () => {
    const before = await root.metrics.show({ query: { detail: "totals" } });
    await install("one-more", { "index.html": "x" });
    await expect(root.workers.upload({ file: uploadOf("worker.tgz", Buffer.from("no archive")) })).rejects.toThrow();
    const after = await root.metrics.show({ query: { detail: "totals" } });

    expect(after.workers).toEqual([]);
    const uploads = before.daemon.uploads as NonNullable<Metrics["daemon"]["uploads"]>;
    expect(after.daemon.uploads).toEqual({ running: 0, installed: uploads.installed + 1, failed: uploads.failed + 1 });
    expect(after.daemon.uptimeSeconds).toBeGreaterThan(before.daemon.uptimeSeconds);
    expect(after.daemon.process?.rssBytes).toBeGreaterThan(10_000_000);
    expect(after.daemon.process?.connections).toBeGreaterThan(0);
    expect(after.daemon.isolatePool?.used).toBeGreaterThanOrEqual(after.totals.isolates.running);

    const families = await scrape();
    expect(valueOf(families, "runtimed_info", { version: after.daemon.version })).toBe(1);
    for (const name of [
      "process_resident_memory_bytes",
      "nodejs_eventloop_lag_p99_seconds",
      "process_open_fds",
      "runtimed_isolate_pool_size",
    ])
      expect(valueOf(families, name), name).toBeGreaterThan(0);
  });

  test("do not delay the shutdown of the daemon after a request for metrics", async () => {
    const other = await startDaemon();
    try {
      const response = await fetch(`${other.url}/api/metrics`, { headers: { "x-api-key": other.rootKey, connection: "close" } });
      expect(response.status).toBe(200);
      await response.text();
      expect(await other.stop()).toBe(0);
    } finally {
      await other.dispose();
    }
  });
});
