import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { proofOf } from "../../src/server/instances/own-instance.js";
import { Primary } from "../../src/server/access/replica/primary-client.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { openReplicatedStore } from "../support/open-replicated-store.js";

let sqld: Sqld;
let daemon: TestDaemon;
/** A daemon whose own URL is not a loopback address. */
let elsewhere: TestDaemon;
let primary: Primary;

beforeAll(async () => {
  sqld = await startSqld();
  const env = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: sqld.url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms" };
  daemon = await startDaemon({ env: { ...env, RUNTIME_INSTANCE_URL: "http://127.0.0.1:1" } });
  elsewhere = await startDaemon({ env: { ...env, RUNTIME_INSTANCE_URL: "http://10.0.0.11:8000" } });
  primary = await Primary.at({ url: sqld.url, token: undefined });
});

afterAll(async () => {
  await primary.close();
  await Promise.all([daemon.dispose(), elsewhere.dispose()]);
  await sqld.dispose();
});

let requests: { path: string; headers: IncomingHttpHeaders }[];

beforeEach(() => {
  requests = [];
});

/** Starts an HTTP server that records all requests. Returns its origin. */
async function listen(respond: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    respond(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the discovery document of one run of a daemon, with the proof for the challenge in the requested path. */
function discovery(id: string, requested: string | undefined, run = "run"): string {
  const challenge = new URL(requested ?? "", "http://daemon").searchParams.get("challenge") ?? "";
  const proved = { instance: id, proof: proofOf({ id, run }, challenge) };
  return JSON.stringify({ name: "runtimed", api: "/api", version: "1", cpanel: "/", docs: "/", ...proved });
}

const discoveryPath = expect.stringMatching(/^\/\.well-known\/runtime\?challenge=[0-9a-f-]{36}$/);

/** Registers an address like a running daemon, and returns how the real daemon lists it. */
async function listAs(id: string, url: string, { headers = {}, by = daemon }: { headers?: Record<string, string>; by?: TestDaemon } = {}) {
  const { store } = await openReplicatedStore(sqld.url);
  const row = { name: id, run: "run", url, version: "1", startedAtMs: Date.now() };
  await store.records.transact([{ kind: "instance", key: id, value: JSON.stringify(row) }]);
  const now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
  await primary.write({ sql: `INSERT INTO heartbeats VALUES (?1, 'run', ${now})`, values: [id] });
  const list = async () => {
    const credential = headers["cookie"] === undefined ? { "x-api-key": by.rootKey } : {};
    const response = await fetch(`${by.url}/api/instances`, { headers: { ...credential, ...headers } });
    return ((await response.json()) as { id: string }[]).find((instance) => instance.id === id);
  };
  await expect.poll(list).toBeDefined();
  requests = [];
  return list();
}

test("a daemon sends a session's key to other daemons only as X-API-Key, not as cookie", async () => {
  const own = { name: "x", id: "sound", address: null, version: "1", isSelf: true, state: "ready", lagSeconds: 0, isolates: 5 };
  const url = await listen(({ url: path }, response) =>
    response.end(path?.startsWith("/.well-known") ? discovery("sound", path) : JSON.stringify([own])),
  );

  expect(await listAs("sound", url, { headers: { cookie: `runtime_api_key=${daemon.rootKey}` } })).toMatchObject({
    state: "ready",
    isolates: 5,
    isSelf: false,
  });

  expect(requests.map(({ path, headers }) => [path, headers["x-api-key"]])).toEqual([
    [discoveryPath, undefined],
    ["/api/instances?instance=self", daemon.rootKey],
  ]);
  for (const { headers } of requests) expect(headers).not.toHaveProperty("cookie");
});

test.each([
  ["stale", "another id", (path?: string) => discovery("another", path)],
  ["copied", "no proof", () => JSON.stringify({ ...JSON.parse(discovery("copied", "")), proof: undefined })],
  ["earlier", "the proof of another run", (path?: string) => discovery("earlier", path, "another run")],
  ["replayed", "the proof for another challenge", () => discovery("replayed", "/?challenge=earlier")],
])("a daemon sends no key to an address (%s) that responds with %s", async (id, _reason, respond) => {
  const url = await listen(({ url: path }, response) => response.end(respond(path)));

  expect(await listAs(id, url)).toMatchObject({ state: "unreachable", problem: expect.stringContaining("Another program or daemon") });

  expect(requests.map(({ path }) => path)).toEqual([discoveryPath]);
  expect(requests[0]?.headers).not.toHaveProperty("x-api-key");
});

test.each([
  ["early", "the request for a proof", () => true],
  ["late", "the request with the key", (path: string) => !path.startsWith("/.well-known")],
])("a daemon follows no redirect of another daemon (id: %s, redirected: %s)", async (id, _request, isRedirected) => {
  const target = await listen(({ url: path }, response) => response.end(discovery(id, path)));
  const url = await listen(({ url: path = "" }, response) => {
    if (isRedirected(path)) response.writeHead(307, { location: `${target}${path}` }).end();
    else response.end(discovery(id, path));
  });

  expect(await listAs(id, url)).toMatchObject({ state: "unreachable", problem: expect.stringContaining("status 307") });

  expect(requests.filter(({ headers }) => headers.host === new URL(target).host)).toEqual([]);
});

test("a daemon connects to no registered address that is neither https nor private", async () => {
  const url = await listen((_request, response) => response.end(discovery("named", undefined)));

  expect(await listAs("named", url.replace("127.0.0.1", "localhost"))).toMatchObject({
    state: "unreachable",
    problem: expect.stringContaining("neither https nor a private address"),
  });

  expect(requests).toEqual([]);
});

test("a daemon with a non-loopback URL connects to no registered loopback address", async () => {
  const url = await listen(({ url: path }, response) => response.end(discovery("local", path)));

  expect(await listAs("local", url, { by: elsewhere })).toMatchObject({
    state: "unreachable",
    problem: expect.stringContaining("loopback address"),
  });

  expect(requests).toEqual([]);
});

test("a daemon sends no key to a daemon without a heartbeat that a request names", async () => {
  const url = await listen(({ url: path }, response) => response.end(discovery("stopped", path)));
  await listAs("stopped", url);
  await primary.write({ sql: "DELETE FROM heartbeats WHERE id = 'stopped'", values: [] });
  requests = [];

  const response = await fetch(`${daemon.url}/api/audit?instance=stopped`, { headers: { "x-api-key": daemon.rootKey } });

  expect([response.status, await response.json()]).toMatchObject([503, { error: { code: "INSTANCE_UNAVAILABLE" } }]);
  expect(requests).toEqual([]);
});

/** Reads a stream of the daemon until it contains a text, or for 10 s. */
async function readStream(query: string, text: string, headers: Record<string, string>): Promise<string> {
  const ending = new AbortController();
  const response = await fetch(`${daemon.url}/api/events?${query}`, { headers, signal: ending.signal });
  let seen = "";
  try {
    for await (const part of response.body ?? []) {
      seen += Buffer.from(part).toString();
      if (seen.includes(text)) break;
    }
  } finally {
    ending.abort();
  }
  return seen;
}

test("a stream request to another daemon contains a session's key only as X-API-Key", async () => {
  const event = { id: 7, type: "key.created", at: Date.now(), subject: { name: "streamed" } };
  const url = await listen(({ url: path }, response) => {
    if (path?.startsWith("/.well-known")) return response.end(discovery("streaming", path));
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.write(`id: 7\ndata: ${JSON.stringify(event)}\n\n`);
  });
  await listAs("streaming", url);
  requests = [];

  const seen = await readStream("type=key", "streamed", { cookie: `runtime_api_key=${daemon.rootKey}` });

  expect(seen).toContain("streamed");
  expect(requests.map(({ path, headers }) => [path, headers["x-api-key"]])).toEqual([
    [discoveryPath, undefined],
    ["/api/events?type=key&instance=self", daemon.rootKey],
  ]);
  for (const { headers } of requests) expect(headers).not.toHaveProperty("cookie");
});

test("a stream request sends no key without a valid proof, and follows no redirect", async () => {
  const target = await listen(({ url: path }, response) => response.end(discovery("redirected", path)));
  const redirecting = await listen(({ url: path = "" }, response) => {
    if (path.startsWith("/.well-known")) response.end(discovery("redirected", path));
    else response.writeHead(307, { location: `${target}${path}` }).end();
  });
  const forged = await listen(({ url: path }, response) => response.end(discovery("forged", path, "another run")));
  await listAs("redirected", redirecting);
  await listAs("forged", forged);
  requests = [];
  const key = { "x-api-key": daemon.rootKey };

  expect(await readStream("type=key", "daemon redirected are missing", key)).toContain("status 307");
  expect(await readStream("type=key", "daemon forged are missing", key)).toContain("Another program or daemon");

  expect(requests.filter(({ headers }) => headers.host === new URL(target).host)).toEqual([]);
  for (const { headers } of requests.filter((request) => request.headers.host === new URL(forged).host))
    expect(headers).not.toHaveProperty("x-api-key");
});
