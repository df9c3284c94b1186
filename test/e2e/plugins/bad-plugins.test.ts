import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;
let client: Client;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_CPANEL: "off" } });
  client = connect(daemon.url, daemon.rootKey);
  const worker = { "manifest.yaml": manifestOf("app", "1.0.0"), "index.js": `export default { fetch: () => new Response("app") };` };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(worker)) });
  await upload("good", `export default { routes: { fetch: () => new Response("good") } };`, "base: /good\n");
});

afterAll(() => daemon.dispose());

async function upload(name: string, code: string, manifest = ""): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": `name: ${name}\n${manifest}`, "plugin.js": code });
  await client.plugins.upload({ file: uploadOf(`${name}.tgz`, archive) });
}

async function textOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(daemon.url + path, { headers });
  return `${response.status} ${await response.text()}`;
}

/** Expects that the daemon, its worker and the other plugin are unaffected. */
async function expectTheRestWell(): Promise<void> {
  expect(daemon.process.exitCode).toBeNull();
  expect(await textOf("/api/health/ready")).toContain("200 ");
  expect((await client.workers.list()).map(({ name }) => name)).toEqual(["app"]);
  expect(await textOf("/app/")).toBe("200 app");
  expect(await textOf("/good/")).toBe("200 good");
}

describe("an uploaded plugin that is invalid or cannot be loaded", () => {
  test.each([
    ["missing dependency", "export default {};", "dependencies: [nobody]\n", "nobody"],
    ["dependency on itself", "export default {};", "dependencies: [bad]\n", "cycle"],
    ["syntax error", "export default {;", "", "plugin.js:1:17"],
    ["throw at import", "throw new Error('at import');", "", "at import (plugin.js:1:7)"],
    ["throw in onInit", "export default { onInit() { throw new Error('in onInit'); } };", "", "in onInit (plugin.js:1:"],
    ["rejection in onInit", "export default { onInit: () => Promise.reject(new Error('in onInit')) };", "", "in onInit (plugin.js:1:"],
    ["factory with an invalid result", "export default () => [];", "", "an array"],
    ["server route below the API", `export default { server: { routes: { "/api/keys": () => new Response("mine") } } };`, "", "/api/keys"],
    [
      "server route below another plugin's base",
      `export default { server: { routes: { "/good/x": () => new Response("mine") } } };`,
      "",
      "/good",
    ],
  ])("is listed with the reason, and other packages continue to work (%s)", async (_what, code, manifest, reason) => {
    await upload("bad", code, manifest);
    const listed = (await client.plugins.list()).find(({ name }) => name === "bad");
    expect(listed).toMatchObject({ status: "failed", enabled: true });
    expect(listed?.error).toContain(reason);
    const [, file, line] = /([\w.]+):(\d+):/.exec(reason) ?? [];
    expect(listed?.health).toMatchObject({
      state: "failing",
      reason: listed?.error,
      ...(file !== undefined && { lastError: { file, line: Number(line), column: expect.any(Number) } }),
    });
    const { data } = await client.plugins.reload();
    expect(data.plugins.find(({ name }) => name === "bad")).toMatchObject({ loaded: false, error: listed?.error });
    expect(data.plugins.find(({ name }) => name === "good")).toMatchObject({ loaded: true });
    expect((await client.plugins.loaded()).map(({ name }) => name)).toEqual(["good"]);
    await expectTheRestWell();
    await client.plugins.remove({ params: { name: "bad" } });
  });

  test.each([
    ["invalid", "base: /a/b\n"],
    ["reserved", "base: /api\n"],
    ["in use", "base: /good\n"],
  ])("is rejected at upload when its base path is %s", async (_what, manifest) => {
    const before = await client.plugins.list();
    await expect(upload("bad", "export default {};", manifest)).rejects.toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
    expect(await client.plugins.list()).toEqual(before);
    await expectTheRestWell();
  });
});

/** Code that runs only for marked requests. */
const onMark = (body: string) => `if (request.headers.get("x-mark") !== "yes") return; ${body}`;

describe("a loaded plugin that fails at run time", () => {
  test.each([
    ["onRequest that throws", `onRequest(request) { ${onMark("throw new Error('x')")} }`, "503"],
    ["onRequest with an invalid result", `onRequest(request) { ${onMark("return 7")} }`, "503"],
    ["onResponse that throws", `onResponse() { throw new Error("x"); }`, "200"],
    ["onResponse that rejects", `async onResponse() { throw new Error("x"); }`, "200"],
    ["onServerStart that throws", `onServerStart() { throw new Error("x"); }`, "200"],
    ["onWorkerSpawn that throws", `onWorkerSpawn() { throw new Error("x"); }`, "200"],
    ["onWorkerTerminate that rejects", `async onWorkerTerminate() { throw new Error("x"); }`, "200"],
    ["onShutdown that throws", `onShutdown() { throw new Error("x"); }`, "200"],
    [
      "server.fetch that throws",
      `server: { fetch(request) { if (request.headers.get("x-mark") === "yes") throw new Error("x"); return new Response(null, { status: 404 }); } }`,
      "500",
    ],
    ["a timer that throws", `onInit() { setTimeout(() => { throw new Error("in a timer"); }, 1); }`, "200"],
    ["an unhandled rejection", `onInit() { void Promise.reject(new Error("nobody awaits me")); }`, "200"],
    ["a rejection with a text", `onInit() { void Promise.reject("a text"); }`, "200"],
  ])("affects only the requests that it handles (failure: %s)", async (_what, hook, statusOfMarked) => {
    await upload("bad", `export default { ${hook} };`);
    expect((await client.plugins.list()).find(({ name }) => name === "bad")).toMatchObject({ status: "loaded" });
    await client.workers.restart({ params: { scope: "_", name: "app", version: "1.0.0" } });
    await expectTheRestWell();
    expect(await textOf("/app/", { "x-mark": "yes" })).toMatch(new RegExp(`^${statusOfMarked} `));
    await client.plugins.remove({ params: { name: "bad" } });
    await expectTheRestWell();
  });

  test("fails a request after 10 s when its onRequest hook never completes", { timeout: 60_000 }, async () => {
    await upload("bad", `export default { onRequest(request) { ${onMark("return new Promise(() => {})")} } };`);
    const stuck = textOf("/app/", { "x-mark": "yes" });
    await expectTheRestWell();
    expect(await stuck).toContain("PLUGIN_HOOK_FAILED");
    await client.plugins.remove({ params: { name: "bad" } });
  });
});
