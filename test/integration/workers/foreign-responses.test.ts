import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyPackages } from "../../support/copy-packages.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";

const yoga = `import { createSchema, createYoga } from "graphql-yoga";
const schema = createSchema({
  typeDefs: "type Query { hello: String } type Subscription { count: Int }",
  resolvers: {
    Query: { hello: () => "world" },
    Subscription: { count: { subscribe: async function* () { for (const count of [1, 2, 3]) yield { count }; } } },
  },
});
const app = createYoga({ schema, graphqlEndpoint: "/", landingPage: false });
export default { fetch: app.fetch };`;

const fetchers = `import nodeFetch from "node-fetch";
import { fetch as undiciFetch } from "undici";
const fetchers = { "/node-fetch": nodeFetch, "/undici": undiciFetch };
export default { fetch: (request, env) => fetchers[new URL(request.url).pathname](env.UPSTREAM) };`;

const shapes = `
const headersOf = (...pairs) => ({ [Symbol.iterator]: () => pairs[Symbol.iterator]() });
const bytes = (text) => new TextEncoder().encode(text);
let cancelled = false;
const answers = {
  "/array-buffer": () => ({ status: 201, headers: new Map([["x-own", "1"]]), arrayBuffer: async () => bytes("buffer").buffer }),
  "/reader": () => { const pieces = [bytes("a"), bytes("b")]; return { status: 200, headers: headersOf(), body: { getReader: () => ({
    read: async () => ({ done: pieces.length === 0, value: pieces.shift() }), cancel: async () => {} }) } }; },
  "/iterable": () => ({ status: 200, headers: headersOf(), body: (async function* () { yield bytes("c"); yield "d"; })() }),
  "/endless": () => ({ status: 200, headers: headersOf(), body: (async function* () {
    try { for (;;) { yield bytes("x".repeat(1000)); await new Promise((resolve) => setTimeout(resolve, 5)); } } finally { cancelled = true; } })() }),
  "/cancelled": () => new Response(String(cancelled)),
  "/no-content": () => ({ status: 204, headers: headersOf(), body: "ignored" }),
  "/cookies": () => ({ status: 200, body: null, headers: Object.assign(headersOf(["set-cookie", "a=1, b=2"], ["x-a", "1"]), { getSetCookie: () => ["a=1", "b=2"] }) }),
  "/broken": () => ({ status: 200, headers: headersOf(), body: (async function* () { yield bytes("begun"); throw new Error("the source failed"); })() }),
  "/status-199": () => ({ status: 199, headers: headersOf() }),
  "/status-text": () => ({ status: "200", headers: headersOf() }),
  "/no-headers": () => ({ status: 200 }),
  "/used": () => ({ status: 200, headers: headersOf(), bodyUsed: true }),
  "/bad-header": () => ({ status: 200, headers: headersOf(["x-a", "1\\r\\nx-b: 2"]), body: null }),
  "/throwing": () => ({ status: 200, get headers() { throw new Error("no headers here"); } }),
  "/class": () => new (class Answer {})(),
  "/undefined": () => undefined,
  "/string": () => "text",
};
export default { fetch: (request) => answers[new URL(request.url).pathname]() };`;

let daemon: TestDaemon;
let upstream: Server;
beforeAll(async () => {
  upstream = createServer((_request, response) => {
    response.setHeader("set-cookie", ["a=1", "b=2"]);
    response.setHeader("content-encoding", "gzip");
    response.end(gzipSync("fetched"));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => upstream.once("listening", resolve));
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  const { port } = upstream.address() as AddressInfo;
  await writeTree(path.join(directory, "workers"), {
    "yoga/manifest.yaml": "name: yoga\nversion: 1.0.0\n",
    "yoga/index.mjs": yoga,
    "fetchers/manifest.yaml": `name: fetchers\nversion: 1.0.0\nentrypoint: index.mjs\nenv: { UPSTREAM: "http://127.0.0.1:${port}/" }\n`,
    "fetchers/index.mjs": fetchers,
    "shapes/manifest.yaml": "name: shapes\nversion: 1.0.0\n",
    "shapes/index.mjs": shapes,
  });
  await copyPackages(["graphql-yoga", "graphql"], path.join(directory, "workers/yoga"));
  await copyPackages(["node-fetch", "undici"], path.join(directory, "workers/fetchers"));
  daemon = await startDaemon({ directory, env: { RUNTIME_WORKER_NETWORK_ALLOW: "loopback" } });
}, 60_000);
afterAll(async () => {
  upstream.close();
  await daemon.dispose();
});

const shape = (name: string) => fetch(`${daemon.url}/shapes/${name}`);
const logOf = async (name: string) =>
  (await fetch(`${daemon.url}/api/workers/_/${name}/logs`, { headers: { "x-api-key": daemon.rootKey } })).text();

describe("a worker's Response object of another class than Node's Response", () => {
  test("is sent to the client when GraphQL Yoga responds to a query", async () => {
    const response = await fetch(`${daemon.url}/yoga/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "{ hello }" }),
    });
    expect([response.status, await response.json()]).toEqual([200, { data: { hello: "world" } }]);
  });

  test("is streamed to the client when GraphQL Yoga responds to a subscription", async () => {
    const query = encodeURIComponent("subscription { count }");
    const response = await fetch(`${daemon.url}/yoga/?query=${query}`, { headers: { accept: "text/event-stream" } });
    const text = await response.text();
    for (const count of [1, 2, 3]) expect(text).toContain(`{"data":{"count":${count}}}`);
  });

  test.each(["node-fetch", "undici"])("is sent decoded and with each cookie when the package %s creates the object", async (name) => {
    const response = await fetch(`${daemon.url}/fetchers/${name}`);
    expect([response.status, await response.text()]).toEqual([200, "fetched"]);
    expect(response.headers.get("content-encoding")).toBeNull();
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  test.each([
    ["array-buffer", 201, "buffer"],
    ["reader", 200, "ab"],
    ["iterable", 200, "cd"],
    ["no-content", 204, ""],
  ])("is sent when it has the form %s", async (name, status, text) => {
    const response = await shape(name);
    expect([response.status, await response.text()]).toEqual([status, text]);
  });

  test("keeps its headers and each cookie", async () => {
    expect((await shape("array-buffer")).headers.get("x-own")).toBe("1");
    const { headers } = await shape("cookies");
    expect([headers.get("x-a"), headers.getSetCookie()]).toEqual(["1", ["a=1", "b=2"]]);
  });

  test("is truncated when its body fails, and cancelled when the client disconnects", async () => {
    await expect(shape("broken").then((response) => response.text())).rejects.toThrow();
    expect(await logOf("shapes")).toContain("the source failed");
    const leaving = new AbortController();
    const response = await fetch(`${daemon.url}/shapes/endless`, { signal: leaving.signal });
    expect(response.status).toBe(200);
    leaving.abort();
    await expect.poll(async () => await (await shape("cancelled")).text()).toBe("true");
  });

  test.each([
    ["status-199", "an Object"],
    ["status-text", "an Object"],
    ["no-headers", "an Object"],
    ["used", "an Object"],
    ["class", "an Answer"],
    ["undefined", "undefined"],
    ["string", "a string"],
  ])("is rejected when it has the form %s, and the log contains its type", async (name, what) => {
    const response = await shape(name);
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: "WORKER_BAD_RESPONSE" } }]);
    expect(await logOf("shapes")).toContain(`The worker returned ${what} instead of a Response.`);
  });

  test.each([
    ["bad-header", "Invalid header"],
    ["throwing", "no headers here"],
  ])("is rejected when its body cannot be read (case %s), and the log has the reason", async (name, reason) => {
    expect((await shape(name)).status).toBe(502);
    expect((await logOf("shapes")).toLowerCase()).toContain(reason.toLowerCase());
  });
});
