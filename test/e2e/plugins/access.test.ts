import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;
let client: Client;

const guard = `export default () => {
  let auth;
  return {
    onInit(context) { auth = context.auth; },
    onRequest(request, app) {
      if (request.headers.get("x-ticket") === "yes") return;
      const seen = [...request.headers].filter(([name, value]) => /api-key|authorization|cookie|internal/.test(name) || /rtk_|root-key/.test(value));
      const principal = auth.verify(request);
      return Response.json({ guarded: app?.name, principal: principal?.name, permissions: principal?.permissions.length, seen }, { status: 401 });
    },
  };
};`;

beforeAll(async () => {
  daemon = await startDaemon();
  client = connect(daemon.url, daemon.rootKey);
  const worker = {
    "manifest.yaml": manifestOf("app", "1.0.0", `publicRoutes:\n  GET: ["/open/**"]\n`),
    "index.js": `export default { fetch: (request) => new Response("app " + new URL(request.url).pathname) };`,
  };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(worker)) });
  const plugin = { "manifest.yaml": "name: guard\n", "plugin.js": guard };
  await client.plugins.upload({ file: uploadOf("guard.tgz", await packFiles(plugin)) });
});

afterAll(() => daemon.dispose());

async function get(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(daemon.url + path, { headers });
  return `${response.status} ${await response.text()}`;
}

test("onRequest is skipped for a valid key in a header, but not for a key in a cookie", async () => {
  const { data } = await client.keys.create({ body: { name: "reader", role: "viewer", expiresIn: "1d" } });
  for (const key of [data.key, daemon.rootKey]) {
    expect(await get("/app/x", { "x-api-key": key })).toBe("200 app /x");
    expect(await get("/app/x", { authorization: `Bearer ${key}` })).toBe("200 app /x");
  }
  const cookie = { cookie: `runtime_api_key=${data.key}; other=1` };
  expect(await get("/app/x", cookie)).toBe(`401 {"guarded":"app","principal":"reader","permissions":3,"seen":[["cookie","other=1"]]}`);
  expect(await get("/app/x", { "x-api-key": "unknown" })).toContain(`401 {"guarded":"app"`);
  expect(await get("/app/x")).toBe(`401 {"guarded":"app","seen":[]}`);
  await client.keys.revoke({ params: { id: String(data.id) } });
  expect(await get("/app/x", { "x-api-key": data.key })).toBe(`401 {"guarded":"app","seen":[]}`);
  expect(await get("/app/x", cookie)).toBe(`401 {"guarded":"app","seen":[["cookie","other=1"]]}`);
});

test("onRequest is skipped for public routes of a worker, but not for similar paths", async () => {
  expect(await get("/app/open/page")).toBe("200 app /open/page");
  for (const path of ["/app/open/%2e%2e/x", "/app/open/..%2fx", "/app//open/page", "/app/opened", "/app@1/open\\..\\x"])
    expect(await get(path), path).toContain("401 ");
  const posted = await fetch(`${daemon.url}/app/open/page`, { method: "POST" });
  expect(posted.status).toBe(401);
});

test("a plugin cannot serve paths of the API, the discovery document or the panel", async () => {
  const greedy = `export default {
    onRequest: (request) => new URL(request.url).pathname === "/rewrite" ? new Request(new URL("/api/keys", request.url)) : new Response("stolen"),
    onResponse: () => new Response("changed"),
    server: { fetch: () => new Response("stolen"), routes: { "/:a": () => new Response("stolen"), "/:a/*": () => new Response("stolen") } },
  };`;
  const plugin = { "manifest.yaml": "name: greedy\n", "plugin.js": greedy };
  await client.plugins.upload({ file: uploadOf("greedy.tgz", await packFiles(plugin)) });
  for (const path of ["/api/health", "/api/plugins", "/.well-known/runtime", "/api", "/cpanel/", "/cpanel", "/.well-known/x"])
    expect(await get(path, { "x-ticket": "yes" }), path).not.toMatch(/stolen|changed/);
  expect(await get("/anything", { "x-ticket": "yes" })).toContain("changed");
  await client.plugins.remove({ params: { name: "greedy" } });
});

test("a key can list and manage only the plugins in its namespaces", async () => {
  const plugin = { "manifest.yaml": `name: "@team/own"\n`, "plugin.js": "export default {};" };
  await client.plugins.upload({ file: uploadOf("own.tgz", await packFiles(plugin)) });
  const body = { name: "team", role: "editor", expiresIn: "1d", namespaces: ["@team"] } as const;
  const { data } = await client.keys.create({ body: { ...body, namespaces: [...body.namespaces] } });
  const team = connect(daemon.url, data.key);
  expect((await team.plugins.list()).map(({ name }) => name)).toEqual(["@team/own"]);
  expect((await team.plugins.loaded()).map(({ name }) => name)).toEqual(["@team/own"]);
  expect((await team.plugins.reload()).data.plugins.map(({ name }) => name)).toEqual(["@team/own"]);
  const before = await client.plugins.list();
  const denied = { code: "NAMESPACE_DENIED" };
  await expect(team.plugins.disable({ params: { name: "guard" } })).rejects.toMatchObject(denied);
  await expect(team.plugins.remove({ params: { name: "guard" } })).rejects.toMatchObject(denied);
  const foreign = { "manifest.yaml": "name: guard\n", "plugin.js": "export default {};" };
  await expect(team.plugins.upload({ file: uploadOf("guard.tgz", await packFiles(foreign)) })).rejects.toMatchObject(denied);
  expect(await client.plugins.list()).toEqual(before);
  expect((await team.plugins.disable({ params: { name: "@team/own" } })).data).toEqual({ name: "@team/own", enabled: false });
  await team.plugins.remove({ params: { name: "@team/own" } });
});

test("a plugin's worker serves the plugin's base path", async () => {
  const files = {
    "manifest.yaml": `name: with-app\nbase: /tool\nentrypoint: index.js\nenv: { GREETING: hi }\n`,
    "index.js": `export default { fetch: (request, env) => new Response([env.GREETING, new URL(request.url).pathname, request.headers.get("x-base")].join(" ")) };`,
  };
  await client.plugins.upload({ file: uploadOf("with-app.tgz", await packFiles(files)) });
  expect(await get("/tool/some/path?x=1", { "x-ticket": "yes" })).toBe("200 hi /some/path /tool");
  expect(await get("/tool", { "x-ticket": "yes" })).toBe("200 hi / /tool");
  expect(await get("/tool/")).toContain(`"guarded":"with-app"`);
  const changed = { ...files, "index.js": `export default { fetch: () => new Response("second") };` };
  await client.plugins.upload({ file: uploadOf("with-app.tgz", await packFiles(changed)) });
  expect(await get("/tool/", { "x-ticket": "yes" })).toBe("200 second");
  await client.plugins.disable({ params: { name: "with-app" } });
  expect(await get("/tool/", { "x-ticket": "yes" })).toContain("404 ");
});
