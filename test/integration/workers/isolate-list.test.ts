import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiError } from "../../../src/shared/api-error.js";
import type { Client } from "../../../src/shared/client.js";
import type { Isolate } from "../../../src/shared/contract/isolates.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Returns the process id of the isolate. `/held` responds after 1.5 s. */
const code = `
export default { async fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/held") await new Promise((resolve) => setTimeout(resolve, 1500));
  return new Response(String(process.pid) + pathname);
} };`;
const slowStart = `await new Promise((resolve) => setTimeout(resolve, 1500));${code}`;

let daemon: TestDaemon;
let root: Client;
let team: Client;
beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  const { data } = await root.keys.create({ body: { name: "team", role: "admin", namespaces: ["@team"] } });
  team = connect(daemon.url, data.key);
});
afterAll(() => daemon.dispose());

async function install(name: string, files: Readonly<Record<string, string>> = { "index.js": code }, manifest: object = {}): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": JSON.stringify({ name, version: "1.0.0", ...manifest }), ...files });
  await root.workers.upload({ file: uploadOf("app.tgz", archive) });
}

const get = async (target: string) => {
  const response = await fetch(`${daemon.url}/${target}`);
  return { status: response.status, text: await response.text() };
};
const listOf = (worker: string, client = root) => client.isolates.list({ query: { worker } });
const only = async (worker: string) => {
  const isolates = await listOf(worker);
  expect(isolates).toHaveLength(1);
  return isolates[0] as Isolate;
};
const stop = (pid: number | undefined, client = root) => client.isolates.stop({ params: { pid: String(pid) } });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: ApiError) => error.code,
  );
const isAlive = (pid: number | undefined) => {
  try {
    return process.kill(pid as number, 0);
  } catch {
    return false;
  }
};

describe("the list of isolates", () => {
  test("contains process, memory, CPU time and requests of a running isolate", async () => {
    await install("@team/shown");
    expect(await listOf("@team/shown")).toEqual([]);
    const began = Math.floor(Date.now() / 1000);

    for (let count = 0; count < 3; count += 1) await get("@team/shown/");

    const { pid, startedAt, rssBytes, pssBytes, cpuSeconds, ...rest } = await only("@team/shown");
    expect(rest).toEqual({ worker: "@team/shown", version: "1.0.0", state: "running", requests: 3, inFlight: 0, sockets: 0 });
    expect(isAlive(pid)).toBe(true);
    expect(startedAt).toBeGreaterThanOrEqual(began);
    expect(startedAt).toBeLessThanOrEqual(Date.now() / 1000);
    expect(rssBytes).toBeGreaterThan(1024 * 1024);
    expect(pssBytes ?? 0).toBeLessThanOrEqual(rssBytes);
    expect(cpuSeconds).toBeGreaterThan(0);
  });

  test("contains only workers in the namespaces of the key", async () => {
    await install("@other/hidden");
    await get("@other/hidden/");

    expect(await listOf("@other/hidden")).toHaveLength(1);
    expect(await listOf("@other/hidden", team)).toEqual([]);
    expect(new Set((await team.isolates.list()).map(({ worker }) => worker))).toEqual(new Set(["@team/shown"]));
  });

  test("contains no process for a static site", async () => {
    await install("site", { "index.html": "site" });
    expect((await get("site/")).text).toBe("site");
    expect(await listOf("site")).toEqual([]);
  });

  test("contains a starting isolate, which a client can stop before it serves requests", async () => {
    await install("starting", { "index.js": slowStart });
    const response = get("starting/");
    await expect.poll(() => listOf("starting"), { timeout: 5000 }).toMatchObject([{ state: "starting", requests: 0 }]);
    const { pid } = await only("starting");

    expect((await stop(pid)).data).toMatchObject({ pid, state: "starting" });

    const { status, text } = await response;
    expect(status).toBe(200);
    expect(text).not.toBe(`${pid}/`);
    expect((await only("starting")).pid).not.toBe(pid);
  });
});

describe("stopping an isolate", () => {
  test("completes the running request, and a new isolate serves the next request", async () => {
    await install("@team/busy");
    await get("@team/busy/");
    const held = get("@team/busy/held");
    await expect.poll(() => listOf("@team/busy")).toMatchObject([{ inFlight: 1 }]);
    const { pid } = await only("@team/busy");

    expect((await stop(pid, team)).data).toEqual({ pid, worker: "@team/busy", version: "1.0.0", state: "draining" });

    expect(await listOf("@team/busy")).toMatchObject([{ pid, state: "draining", inFlight: 1 }]);
    const { text } = await get("@team/busy/next");
    expect(text).toMatch(/\/next$/);
    expect(text).not.toBe(`${pid}/next`);
    expect(await held).toEqual({ status: 200, text: `${pid}/held` });
    await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false);
    expect(await listOf("@team/busy")).toMatchObject([{ state: "running", requests: 1 }]);
  });

  test("loses no request under load", async () => {
    await install("loaded");
    await get("loaded/");
    const ending = new AbortController();
    const statuses: number[] = [];
    const load = async () => {
      while (!ending.signal.aborted) statuses.push((await get("loaded/")).status);
    };
    const clients = Array.from({ length: 8 }, load);

    for (let count = 0; count < 5; count += 1) {
      await expect.poll(async () => (await listOf("loaded")).some(({ state }) => state === "running"), { timeout: 5000 }).toBe(true);
      for (const { pid, state } of await listOf("loaded")) if (state === "running") await codeOf(stop(pid));
    }
    ending.abort();
    await Promise.all(clients);

    expect(statuses.length).toBeGreaterThan(8);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  test("succeeds for both of two simultaneous calls, which stop only one process", async () => {
    await install("twice");
    const held = get("twice/held");
    await expect.poll(() => listOf("twice")).toMatchObject([{ inFlight: 1 }]);
    const { pid } = await only("twice");

    const states = await Promise.all([stop(pid), stop(pid)]);

    expect(states.map(({ data }) => data.state)).toEqual(["draining", "draining"]);
    expect(await held).toEqual({ status: 200, text: `${pid}/held` });
    await expect.poll(() => isAlive(pid), { timeout: 5000 }).toBe(false);
    expect(await codeOf(stop(pid))).toBe("ISOLATE_NOT_FOUND");
  });

  test("is rejected for a process that is not an isolate in the key's namespaces", async () => {
    await install("@other/kept");
    await get("@other/kept/");
    const { pid } = await only("@other/kept");

    expect(await codeOf(stop(pid, team))).toBe("ISOLATE_NOT_FOUND");
    for (const foreign of [daemon.process.pid, process.pid, process.ppid, 1, 4_000_000_000])
      expect(await codeOf(stop(foreign)), String(foreign)).toBe("ISOLATE_NOT_FOUND");

    expect([pid, daemon.process.pid, process.ppid].map(isAlive)).toEqual([true, true, true]);
    expect(await only("@other/kept")).toMatchObject({ pid, state: "running" });
  });

  test("causes an audit entry with worker, version and process", async () => {
    await install("@team/audited");
    await get("@team/audited/");
    const { pid } = await only("@team/audited");

    await stop(pid, team);
    await codeOf(stop(1, team));

    const { entries } = await root.audit.list({ query: { action: "worker.isolate-stopped", limit: 2 } });
    expect(entries.map(({ outcome, subject, principal }) => ({ outcome, subject, by: principal?.name }))).toEqual([
      { outcome: "done", subject: { name: "@team/audited", version: "1.0.0", pid }, by: "team" },
      { outcome: "failed", subject: { pid: 1 }, by: "team" },
    ]);
  });
});
