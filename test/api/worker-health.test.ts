import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { WorkerHealth } from "../../src/shared/contract/worker-health.js";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon?.dispose());

async function install(name: string, code: string, version = "1.0.0", manifest = ""): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version, manifest), "index.js": code });
  await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

async function get(target: string, count = 1): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const response = await fetch(daemon.url + target);
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  return statuses;
}

async function healthOf(name: string): Promise<WorkerHealth | undefined> {
  return (await root.workers.health({ query: { worker: name } }))[0];
}

const working = `export default { fetch: () => new Response("ok") };`;
const throwing = `export default {
  fetch() {
    throw new Error("no basket");
  },
};`;

const waiting = (ms: number) => `export default { fetch: () => new Promise((done) => setTimeout(done, ${ms}, new Response("ok"))) };`;
/** Sends 150 requests to a started isolate. A request that waits for the start would decide the p99. */
async function load(clients: number): Promise<void> {
  await get("/slowed/");
  await Promise.all(Array.from({ length: clients }, () => get("/slowed/", 150 / clients)));
}

describe("worker health", () => {
  test("is `idle` before the first request, and `disabled` if no version is enabled", async () => {
    const startedAt = Math.floor(Date.now() / 1000);
    await install("quiet", working);
    expect(await healthOf("quiet")).toEqual({ name: "quiet", version: "1.0.0", state: "idle", since: expect.any(Number) });
    await get("/quiet/");
    const health = await healthOf("quiet");
    expect(health).toEqual({ name: "quiet", version: "1.0.0", state: "ok", since: expect.any(Number) });
    expect(health?.since).toBeGreaterThanOrEqual(startedAt);
    await root.workers.disable({ params: { scope: "_", name: "quiet", version: "1.0.0" } });
    expect(await healthOf("quiet")).toEqual({ name: "quiet", version: null, state: "disabled", since: expect.any(Number) });
    await root.workers.remove({ params: { scope: "_", name: "quiet" } });
    expect(await healthOf("quiet")).toBeUndefined();
  });

  test("is `failing` while every request fails, and contains the position of the error", async () => {
    await install("basket", working, "1.0.0");
    await get("/basket/", 3);
    await install("basket", throwing, "1.1.0");
    expect(await get("/basket/", 5)).toEqual([502, 502, 502, 502, 502]);
    const health = await healthOf("basket");
    expect(health).toMatchObject({
      version: "1.1.0",
      state: "failing",
      reason: "100 % of requests failed since 1.1.0.",
      lastError: { message: "Error: no basket", file: "index.js", line: 3, column: 11 },
      suspect: { version: "1.1.0", by: "root", installedAt: expect.any(Number) },
      rollbackTo: "1.0.0",
    });
    expect(Math.abs((health?.lastError?.at ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  test("is `ok` again after a rollback to a version that works", async () => {
    await root.workers.disable({ params: { scope: "_", name: "basket", version: "1.1.0" } });
    await get("/basket/");
    expect(await healthOf("basket")).toEqual({ name: "basket", version: "1.0.0", state: "ok", since: expect.any(Number) });
  });

  test("is `failing` if the code cannot load, and contains the load error", async () => {
    await install("unloadable", `import "./missing.js";\n${working}`);
    await get("/unloadable/");
    expect(await healthOf("unloadable")).toMatchObject({
      state: "failing",
      reason: expect.stringContaining("missing.js"),
      lastError: { message: expect.stringContaining("missing.js") },
      suspect: { version: "1.0.0" },
    });
  });

  test("contains the file and the line of a syntax error", async () => {
    await install("typo", `export default {\n  fetch() { return new Response("ok" };\n};`);
    await get("/typo/");
    expect(await healthOf("typo")).toMatchObject({ state: "failing", lastError: { file: "index.js", line: 2 } });
  });

  test("is `degraded` while few requests fail", async () => {
    await install("flaky", `let count = 0;\nexport default { fetch: () => new Response("", { status: (count += 1) === 3 ? 500 : 200 }) };`);
    await get("/flaky/", 20);
    expect(await healthOf("flaky")).toMatchObject({
      state: "degraded",
      reason: "5 % of requests failed since 1.0.0.",
      lastError: { message: expect.stringMatching(/^GET \/flaky\/ 500 /) },
    });
  });

  test("is `backoff` after repeated crashes", async () => {
    await install("crashing", `export default { fetch: () => process.exit(3) };`);
    await get("/crashing/", 3);
    await vi.waitFor(async () =>
      expect(await healthOf("crashing")).toMatchObject({
        state: "backoff",
        reason: "The worker crashed repeatedly, so the daemon delays its next start.",
        suspect: { version: "1.0.0" },
      }),
    );
  });

  test("is `ok` again when enough requests have succeeded after failed requests", async () => {
    await install(
      "healing",
      `let count = 0;\nexport default { fetch: () => new Response("", { status: (count += 1) <= 4 ? 500 : 200 }) };`,
    );
    await get("/healing/", 4);
    expect(await healthOf("healing")).toMatchObject({ state: "failing" });
    await get("/healing/", 600);
    expect(await healthOf("healing")).toMatchObject({ state: "ok" });
  });

  test("is `degraded` and names the new version if this version tripled the p99 latency", async () => {
    await install("slowed", waiting(20), "1.0.0");
    await load(10);
    await install("slowed", waiting(1500), "1.1.0");
    await load(50);
    expect(await healthOf("slowed")).toMatchObject({
      state: "degraded",
      reason: expect.stringMatching(/^The p99 latency is \d+ ms since 1\.1\.0; before this version it was \d+ ms\.$/),
      suspect: { version: "1.1.0" },
      rollbackTo: "1.0.0",
    });
  });

  test("lists only workers in the namespaces of the key, sorted by name", async () => {
    await install("@blue/app", working);
    const { data } = await root.keys.create({ body: { name: "blue", role: "viewer", namespaces: ["@blue"] } });
    const blue = connect(daemon.url, data.key);
    expect((await blue.workers.health()).map(({ name }) => name)).toEqual(["@blue/app"]);
    expect(await blue.workers.health({ query: { worker: "basket" } })).toEqual([]);
    const names = (await root.workers.health()).map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toContain("basket");
  });

  test("causes an event at each change of the state, except between `ok` and `idle`", async () => {
    const seen: unknown[] = [];
    const response = await fetch(`${daemon.url}/api/events?type=worker&worker=basket&since=1h`, {
      headers: { "x-api-key": daemon.rootKey },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      for (const [, data] of decoder.decode(chunk).matchAll(/^data: (.*)$/gm)) {
        const event = JSON.parse(data as string) as { type: string; subject?: object; message?: string };
        if (event.type === "worker.health") seen.push({ subject: event.subject, message: event.message });
      }
      if (seen.length >= 2) break;
    }
    expect(seen.slice(0, 2)).toEqual([
      { subject: { name: "basket", version: "1.1.0" }, message: "100 % of requests failed since 1.1.0." },
      { subject: { name: "basket", version: "1.0.0" }, message: "idle" },
    ]);
  });
});

test("a problem keeps its start time if the first requests after a restart also fail", async () => {
  await install("restarted", throwing);
  await install("unstartable", `throw new Error("no start");`);
  await get("/restarted/", 4);
  await get("/unstartable/");
  const since = { restarted: (await healthOf("restarted"))?.since, unstartable: (await healthOf("unstartable"))?.since };
  await daemon.stop();
  daemon = await startDaemon({ directory: daemon.directory });
  root = connect(daemon.url, daemon.rootKey);
  expect([await healthOf("restarted"), await healthOf("unstartable")]).toMatchObject([{ state: "idle" }, { state: "idle" }]);
  await get("/restarted/");
  expect(await healthOf("restarted")).toMatchObject({
    state: "degraded",
    since: since.restarted,
    reason: "100 % of requests failed since 1.0.0.",
  });
  await get("/restarted/", 3);
  await get("/unstartable/");
  expect(await healthOf("restarted")).toMatchObject({
    state: "failing",
    since: since.restarted,
    lastError: { message: "Error: no basket", line: 3 },
  });
  expect(await healthOf("unstartable")).toMatchObject({
    state: "failing",
    since: since.unstartable,
    reason: expect.stringContaining("no start"),
  });
});
