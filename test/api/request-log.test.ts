import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import type { LogEntry } from "../../src/shared/contract/worker-logs.js";
import { connect, uploadOf } from "../support/connect.js";
import { packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let root: Client;

const program = `export default { fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/slow") return new Promise(() => {});
  if (pathname === "/trace") return new Response(request.headers.get("traceparent"));
  return new Response(pathname === "/empty" ? null : "hello", { status: Number(pathname.slice(1)) || 200 });
} };`;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  await install({ "manifest.yaml": "name: app\nversion: 1.0.0\n", "index.js": program });
  await install({ "manifest.yaml": "name: '@team/site'\nversion: 1.0.0\n", "index.html": "a page", "about/index.html": "about" });
  await install({ "manifest.yaml": "name: quiet\nversion: 1.0.0\naccessLog: false\n", "index.js": program });
  await install({ "manifest.yaml": "name: broken\nversion: 1.0.0\n", "index.js": "throw new Error('no')" });
});
afterAll(() => daemon.dispose());

async function install(files: Readonly<Record<string, string>>): Promise<void> {
  await root.workers.upload({ file: uploadOf("worker.tgz", await packFiles(files)) });
}

const get = async (target: string, init?: RequestInit) => {
  const response = await fetch(daemon.url + target, { redirect: "manual", ...init });
  await response.arrayBuffer();
  return response;
};

async function requestsOf(name: string, query: object = {}): Promise<LogEntry[]> {
  const [scope, plain] = name.startsWith("@") ? name.split("/") : ["_", name];
  const { entries } = await root.workers.logs({
    params: { scope: scope as string, name: plain as string },
    query: { source: "request", ...query },
  });
  return entries;
}
const lines = (entries: readonly LogEntry[]) =>
  entries.map(({ request }) => `${request?.method} ${request?.path} ${request?.status} ${request?.responseBytes}`);

describe("the request log", () => {
  test("contains method, path, status, size, ID and client of requests to a module", async () => {
    const response = await get("/app/one/two?token=hidden", { headers: { "x-forwarded-for": "203.0.113.9" } });
    for (const target of ["/app", "/app/empty", "/app/503"]) await get(target);
    await get("/app/", { method: "HEAD" });
    await get("/app/", { method: "POST", body: "data" });
    const entries = await requestsOf("app");
    expect(lines(entries)).toEqual([
      "GET /app/one/two 200 5",
      "GET /app 308 0",
      "GET /app/empty 200 0",
      "GET /app/503 503 5",
      "HEAD /app/ 200 0",
      "POST /app/ 200 5",
    ]);
    expect(JSON.stringify(entries)).not.toContain("hidden");
    expect(entries[0]).toMatchObject({
      worker: "app",
      version: "1.0.0",
      level: "info",
      text: expect.stringMatching(/^GET \/app\/one\/two 200 [\d.]+ ms$/),
      request: { requestId: response.headers.get("x-request-id"), client: "127.0.0.1", forwardedFor: "203.0.113.9" },
    });
    expect(entries[3]?.level).toBe("error");
  });

  test("contains requests to a static site, including redirects and errors", async () => {
    for (const target of ["/", "/", "/about", "/none.txt"]) await get(`/@team/site${target}`);
    await get("/@team/site/", { method: "DELETE" });
    expect(lines(await requestsOf("@team/site"))).toEqual([
      "GET /@team/site/ 200 6",
      "GET /@team/site/ 200 6",
      "GET /@team/site/about 308 0",
      "GET /@team/site/none.txt 404 0",
      "DELETE /@team/site/ 405 0",
    ]);
  });

  test("contains status 502 for a failed worker and 499 for a disconnected client", async () => {
    await get("/broken/");
    expect((await requestsOf("broken"))[0]).toMatchObject({ level: "error", request: { status: 502 } });
    await expect(fetch(`${daemon.url}/app/slow`, { signal: AbortSignal.timeout(300) })).rejects.toThrow();
    await expect.poll(async () => lines(await requestsOf("app", { status: "4xx" }))).toEqual(["GET /app/slow 499 0"]);
  });

  test("can be filtered by status and by request ID", async () => {
    const id = (await get("/app/418")).headers.get("x-request-id") ?? "";
    expect(lines(await requestsOf("app", { requestId: id }))).toEqual(["GET /app/418 418 5"]);
    expect(lines(await requestsOf("app", { status: "418" }))).toEqual(["GET /app/418 418 5"]);
  });

  test("identifies a request by the trace ID that the worker received", async () => {
    const response = await fetch(`${daemon.url}/app/trace`);
    const traceparent = await response.text();
    const [entry] = await requestsOf("app", { limit: 1 });
    expect(traceparent.split("-")[1]).toBe(entry?.request?.requestId.replaceAll("-", ""));
    expect(entry?.request?.requestId).toBe(response.headers.get("x-request-id"));
  });

  test("is empty when the manifest contains accessLog: false", async () => {
    expect((await get("/quiet/")).status).toBe(200);
    expect(await requestsOf("quiet")).toEqual([]);
  });
});

describe("the logs of several workers", () => {
  test("contain the entries of all workers, or only of the requested workers", async () => {
    await get("/app/");
    await get("/@team/site/");
    const all = (await root.logs.list({ query: { source: "request", limit: 2 } })).entries;
    expect(all.map(({ worker }) => worker)).toEqual(["app", "@team/site"]);
    const named = (await root.logs.list({ query: { worker: "quiet,@team/site" } })).entries;
    expect(new Set(named.map(({ worker }) => worker))).toEqual(new Set(["quiet", "@team/site"]));
  });

  test("contain only entries of workers in the namespaces of the API key", async () => {
    const { data } = await root.keys.create({ body: { name: "team", role: "viewer", namespaces: ["@team"] } });
    const team = connect(daemon.url, data.key);
    const { entries } = await team.logs.list();
    expect(new Set(entries.map(({ worker }) => worker))).toEqual(new Set(["@team/site"]));
    await expect(team.logs.list({ query: { worker: "@team/site,app" } })).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await expect(root.logs.list({ query: { worker: "app,nobody" } })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND", status: 404 });
  });

  test("stream entries of a worker that is installed after the stream opened", async () => {
    const controller = new AbortController();
    const seen: LogEntry[] = [];
    let isOpen = false;
    const done = (async () => {
      const stream = root.logs.list.follow({ query: { limit: 1 } }, { signal: controller.signal, onOpen: () => (isOpen = true) });
      for await (const entry of stream) seen.push(entry);
    })().catch(() => undefined);
    await expect.poll(() => isOpen).toBe(true);
    await install({ "manifest.yaml": "name: later\nversion: 1.0.0\n", "index.html": "later" });
    await get("/later/");
    await expect.poll(() => seen.some(({ worker, request }) => worker === "later" && request?.status === 200)).toBe(true);
    controller.abort();
    await done;
  });
});

test("the request log contains a rejected request and the plugin that rejected it", async () => {
  const hook = `onRequest(request) { const status = Number(request.headers.get("x-status")); if (status) return new Response("no", { status }); }`;
  const guard = { "manifest.yaml": "name: guard\nversion: 1.0.0\n", "plugin.js": `export default { ${hook} };` };
  await root.plugins.upload({ file: uploadOf("guard.tgz", await packFiles(guard)) });
  const response = await get("/@team/site/about/?token=hidden", { headers: { "x-status": "429" } });
  await get("/@team/site/", { headers: { "x-status": "204" } });
  await get("/quiet/", { headers: { "x-status": "403" } });
  await get("/nothing/", { headers: { "x-status": "403" } });
  await root.plugins.remove({ params: { name: "guard" } });

  const entries = await requestsOf("@team/site", { status: "429" });
  expect(lines(entries)).toEqual(["GET /@team/site/about/ 429 0"]);
  expect(await requestsOf("@team/site", { status: "204" })).toEqual([]);
  expect(entries[0]?.text).toMatch(/^GET \/@team\/site\/about\/ 429 [\d.]+ ms, rejected by the plugin guard$/);
  expect(entries[0]?.request?.requestId).toBe(response.headers.get("x-request-id"));
  expect(await requestsOf("quiet")).toEqual([]);
});
