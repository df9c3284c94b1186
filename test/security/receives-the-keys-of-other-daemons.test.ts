import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { Primary } from "../../src/server/access/replica/primary-client.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { startSqld, type Sqld } from "../support/start-sqld.js";
import { openReplicatedStore } from "../support/open-replicated-store.js";

let sqld: Sqld;
let daemon: TestDaemon;
let primary: Primary;

beforeAll(async () => {
  sqld = await startSqld();
  const env = { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: sqld.url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms" };
  daemon = await startDaemon({ env });
  primary = await Primary.at({ url: sqld.url, token: undefined });
});

afterAll(async () => {
  await primary.close();
  await daemon.dispose();
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

const discovery = (id: string) => JSON.stringify({ name: "runtimed", api: "/api", version: "1", cpanel: "/", docs: "/", instance: id });

/** Registers an address like a running daemon, and returns how the real daemon lists it. */
async function listAs(id: string, url: string, headers: Record<string, string> = {}) {
  const { store } = await openReplicatedStore(sqld.url);
  const row = { name: id, run: "run", url, version: "1", startedAtMs: Date.now() };
  await store.records.transact([{ kind: "instance", key: id, value: JSON.stringify(row) }]);
  const now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";
  await primary.write({ sql: `INSERT INTO heartbeats VALUES (?1, 'run', ${now})`, values: [id] });
  const list = async () => {
    const credential = headers["cookie"] === undefined ? { "x-api-key": daemon.rootKey } : {};
    const response = await fetch(`${daemon.url}/api/instances`, { headers: { ...credential, ...headers } });
    return ((await response.json()) as { id: string }[]).find((instance) => instance.id === id);
  };
  await expect.poll(list).toBeDefined();
  requests = [];
  return list();
}

test("a daemon sends the key of a session as X-API-Key, and no cookie", async () => {
  const own = { name: "x", id: "sound", address: null, version: "1", isSelf: true, state: "ready", lagSeconds: 0, isolates: 5 };
  const url = await listen(({ url: path }, response) =>
    response.end(path?.startsWith("/.well-known") ? discovery("sound") : JSON.stringify([own])),
  );

  expect(await listAs("sound", url, { cookie: `runtime_api_key=${daemon.rootKey}` })).toMatchObject({
    state: "ready",
    isolates: 5,
    isSelf: false,
  });

  expect(requests.map(({ path, headers }) => [path, headers["x-api-key"]])).toEqual([
    ["/.well-known/runtime", undefined],
    ["/api/instances?instance=self", daemon.rootKey],
  ]);
  for (const { headers } of requests) expect(headers).not.toHaveProperty("cookie");
});

test("a daemon sends no key to an address at which another program or daemon responds", async () => {
  const url = await listen((_request, response) => response.end(discovery("another")));

  expect(await listAs("stale", url)).toMatchObject({ state: "unreachable", problem: expect.stringContaining("Another program or daemon") });

  expect(requests.map(({ path }) => path)).toEqual(["/.well-known/runtime"]);
  expect(requests[0]?.headers).not.toHaveProperty("x-api-key");
});

test.each([
  ["early", () => true],
  ["late", (path: string) => !path.startsWith("/.well-known")],
])("a daemon follows no redirect (before or after the key is sent: %s)", async (id, isRedirected) => {
  const target = await listen((_request, response) => response.end(discovery(id)));
  const url = await listen(({ url: path = "" }, response) => {
    if (isRedirected(path)) response.writeHead(307, { location: `${target}${path}` }).end();
    else response.end(discovery(id));
  });

  expect(await listAs(id, url)).toMatchObject({ state: "unreachable", problem: expect.stringContaining("status 307") });

  expect(requests.filter(({ headers }) => headers.host === new URL(target).host)).toEqual([]);
});

test("a daemon connects to no address that is neither https nor private, although it is registered", async () => {
  const url = await listen((_request, response) => response.end(discovery("named")));

  expect(await listAs("named", url.replace("127.0.0.1", "localhost"))).toMatchObject({
    state: "unreachable",
    problem: expect.stringContaining("neither https nor a private address"),
  });

  expect(requests).toEqual([]);
});
