import { existsSync } from "node:fs";
import { stat, truncate } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOutput } from "../../src/shared/contract/endpoint.js";
import type { history } from "../../src/shared/contract/metrics-history.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const code = "export default { fetch: ({ url }) => new Response('ok', { status: url.endsWith('/fail') ? 500 : 200 }) };";
let daemon: TestDaemon;
const root = () => connect(daemon.url, daemon.rootKey);
const totalOf = ({ points }: CallOutput<typeof history>) => points.requests.reduce((sum, count) => sum + count, 0);
const read = (worker?: string) => root().metrics.history({ query: { worker, range: "1h" } });
const journal = () => path.join(daemon.directory, "state", "metrics-history", "journal");

async function install(name: string, version = "1.0.0"): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version), "index.js": code });
  await root().workers.upload({ file: uploadOf("worker.tgz", archive) });
}

async function request(target: string, times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) await (await fetch(daemon.url + target)).arrayBuffer();
}

async function restart(end: () => Promise<unknown> = daemon.stop): Promise<void> {
  await end();
  daemon = await startDaemon({ directory: daemon.directory });
}

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon?.dispose());

describe("the metrics history of a daemon", () => {
  test("contains requests, failures, memory and markers after a restart", async () => {
    await install("shop");
    await request("/shop/", 7);
    await request("/shop/fail", 2);
    await restart();
    const [ofWorker, ofDaemon] = [await read("shop"), await read()];

    expect(totalOf(ofWorker)).toBe(9);
    expect(ofWorker.points.failed.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(Math.max(...ofWorker.points.memoryBytes)).toBeGreaterThan(1024 * 1024);
    expect(Math.max(...ofWorker.points.isolates)).toBe(1);
    expect(ofWorker.points.at.every((at) => at % 60 === 0)).toBe(true);
    expect(totalOf(ofDaemon)).toBe(9);
    expect(ofDaemon.stepSeconds).toBe(10);
    expect(ofWorker.markers).toEqual([
      { type: "start", at: expect.any(Number) },
      { type: "deploy", at: expect.any(Number), version: "1.0.0", by: "root" },
      { type: "start", at: expect.any(Number) },
    ]);
  });

  test("contains all earlier requests after the daemon is killed while it writes a point", async () => {
    await restart();
    const before = await read("shop");
    await daemon.stop();
    const { size } = await stat(journal());
    daemon = await startDaemon({ directory: daemon.directory });
    await expect.poll(async () => (await stat(journal())).size).toBeGreaterThan(size);
    await restart(async () => {
      await daemon.kill();
      await truncate(journal(), (await stat(journal())).size - 5);
    });
    expect(totalOf(await read("shop"))).toBe(totalOf(before));
    await request("/shop/", 3);
    await restart();

    expect(totalOf(await read("shop"))).toBe(totalOf(before) + 3);
  });

  test("hides the workers of other namespaces from a key of one namespace", async () => {
    await install("@team/app");
    await request("/@team/app/", 4);
    await restart();
    const { key } = (await root().keys.create({ body: { name: "team", role: "viewer", namespaces: ["@team"] } })).data;
    const team = connect(daemon.url, key);

    expect(totalOf(await team.metrics.history({ query: { worker: "@team/app" } }))).toBe(4);
    await expect(team.metrics.history({ query: { worker: "shop" } })).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await expect(team.metrics.history({})).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    expect((await team.metrics.sparklines()).every(({ name }) => name === "@team/app")).toBe(true);
  });

  test("rejects an unknown worker and an unknown range", async () => {
    await expect(read("missing")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    const response = await fetch(`${daemon.url}/api/metrics/history?range=2h`, { headers: { "x-api-key": daemon.rootKey } });

    expect(response.status).toBe(400);
  });

  test("is deleted with the worker, and is empty for a new worker with the same name", async () => {
    await root().workers.remove({ params: { scope: "_", name: "shop" } });
    await expect(read("shop")).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    await install("shop");
    await restart();

    expect(totalOf(await read("shop"))).toBe(0);
    expect((await read("shop")).markers.filter(({ type }) => type === "deploy")).toHaveLength(1);
  });

  test("is empty and writes no file with RUNTIME_METRICS_HISTORY_SIZE=0", async () => {
    const other = await startDaemon({ env: { RUNTIME_METRICS_HISTORY_SIZE: "0" } });
    try {
      const found = await connect(other.url, other.rootKey).metrics.history({});
      await other.stop();

      expect(found).toMatchObject({ points: { at: [] }, markers: [] });
      expect(existsSync(path.join(other.directory, "state", "metrics-history"))).toBe(false);
    } finally {
      await other.dispose();
    }
  });
});
