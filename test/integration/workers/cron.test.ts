import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cronRefusal } from "../../../src/server/workers/cron.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Counts its calls. `/seen` returns data of the last call. */
const counter = (text: string) => `
let calls = 0;
let seen = {};
export default { async fetch(request, env) {
  const { pathname, search } = new URL(request.url);
  if (pathname === "/seen") return Response.json({ text: ${JSON.stringify(text)}, calls, ...seen, cronOfThis: request.headers.get("x-cron") });
  calls += 1;
  seen = { method: request.method, target: pathname + search, cron: request.headers.get("x-cron") };
  if (pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, 2500));
  return new Response("done");
} };`;

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.dispose());

async function upload(manifest: string, text = "app"): Promise<Response> {
  const body = new FormData();
  body.set("file", new Blob([new Uint8Array(await packFiles({ "manifest.yaml": manifest, "index.js": counter(text) }))]), "app.tgz");
  return fetch(`${daemon.url}/api/workers/upload`, { method: "POST", headers: { "x-api-key": daemon.rootKey }, body });
}
const change = (path: string, method = "POST") =>
  fetch(`${daemon.url}/api/workers/${path}`, { method, headers: { "x-api-key": daemon.rootKey } });
const seen = async (name: string) =>
  (await (await fetch(`${daemon.url}/${name}/seen`)).json()) as { calls: number; [field: string]: unknown };
const logOf = async (name: string) =>
  (await fetch(`${daemon.url}/api/workers/_/${name}/logs`, { headers: { "x-api-key": daemon.rootKey } })).text();
const everySecond = (target: string) => `cron:\n  - schedule: "* * * * * *"\n    endpoint: ${target}\n`;

describe("a cron job", () => {
  test("calls the worker at its scheduled times without any client request", async () => {
    expect((await upload(`name: ticking\n${everySecond("/tick?a=1")}    method: PUT\n`)).status).toBe(201);
    await expect.poll(async () => (await seen("ticking")).calls, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await seen("ticking")).toMatchObject({ method: "PUT", target: "/tick?a=1", cron: "* * * * * *", cronOfThis: null });
  });

  test("sends the header x-cron, which the daemon removes from requests of clients", async () => {
    const response = await fetch(`${daemon.url}/ticking/seen`, { headers: { "X-Cron": "forged" } });
    expect(await response.json()).toMatchObject({ cronOfThis: null });
  });

  test("is skipped while its previous run continues, and the log reports the skip", async () => {
    await upload(`name: slow\n${everySecond("/slow")}`);
    await expect.poll(() => logOf("slow"), { timeout: 10_000 }).toContain("its previous run has not finished");
  });

  test("runs only in the active version", async () => {
    await upload(`name: versioned\nversion: "1.0.0"\n${everySecond("/tick")}`, "old");
    await expect.poll(async () => (await seen("versioned@1.0.0")).calls, { timeout: 10_000 }).toBeGreaterThan(0);
    await upload(`name: versioned\nversion: "2.0.0"\n${everySecond("/tick")}`, "new");
    const { calls } = await seen("versioned@1.0.0");
    await expect.poll(async () => (await seen("versioned")).calls, { timeout: 10_000 }).toBeGreaterThan(0);
    expect((await seen("versioned@1.0.0")).calls - calls).toBeLessThanOrEqual(1);
    await change("_/versioned/2.0.0/disable");
    const before = (await seen("versioned")).calls;
    await expect.poll(async () => (await seen("versioned")).calls, { timeout: 10_000 }).toBeGreaterThan(before);
    expect((await change("_/versioned", "DELETE")).status).toBe(200);
  });
});

test("an upload with an invalid cron schedule fails with an error that names the field", async () => {
  const refused = await upload(`name: wrong\n${everySecond("/fine")}  - schedule: "61 * * * *"\n    endpoint: /x\n`);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { code: "INVALID_PACKAGE_METADATA", message: expect.stringContaining("cron.1.schedule") },
  });
  expect((await fetch(`${daemon.url}/wrong/`)).status).toBe(404);
});

test.each([["* * * *"], ["2030-01-01T00:00:00"], ["0 0 30 2 *"], ["@sometimes"], [""], ["a b c d e"]])(
  "the cron schedule %j is rejected",
  (schedule) => {
    expect(cronRefusal({ cron: [{ schedule, endpoint: "/", method: "POST", on: "one" }] })).toContain("cron.0.schedule");
  },
);

test.each([["*/5 * * * *"], ["0 0 * * MON"], ["30 0 0 1 * *"], ["@daily"]])("the cron schedule %j is accepted", (schedule) => {
  expect(cronRefusal({ cron: [{ schedule, endpoint: "/", method: "POST", on: "one" }] })).toBeUndefined();
});
