import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect } from "../../support/connect.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { uploadWorker } from "../../support/upload-worker.js";

/** `/slow` responds in two parts. The second part follows a request of `/go`. */
const app = `
let go;
const told = new Promise((resolve) => (go = resolve));
export default { fetch(request) {
  if (new URL(request.url).pathname === "/go") return new Response(String(go()));
  return new Response(new ReadableStream({ async start(controller) {
    controller.enqueue(new TextEncoder().encode("first"));
    await told;
    controller.close();
  } }));
} };`;

let daemon: TestDaemon;
let client: Client;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_INSTANCE_NAME: "only" } });
  client = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon.dispose());

const inFlight = async () => (await client.instances.list()).map(({ requestsInFlight }) => requestsInFlight);

const drain = (...flags: string[]) => runRuntimectl(daemon, ["instances", "drain", "only", ...flags]);

test("a drain waits for running responses, and reports their number at the time limit", async () => {
  await uploadWorker(client, "app", { "index.js": app }, "instances: 1\n");
  const key = { "x-api-key": daemon.rootKey };
  const stream = new AbortController();
  const events = await fetch(`${daemon.url}/api/events?follow=1`, { headers: key, signal: stream.signal });
  expect(await inFlight()).toEqual([0]);
  const slow = await fetch(`${daemon.url}/app/slow`);
  expect(await inFlight()).toEqual([1]);

  const { status, stderr } = await drain("--drain-timeout", "300ms");

  expect(status).toBe(1);
  expect(stderr).toContain("only has 1 request in flight after 0.3 s, and stays drained");
  expect((await fetch(`${daemon.url}/api/health/ready`)).status).toBe(503);
  const waiting = drain("--json");
  expect(await (await fetch(`${daemon.url}/app/go`)).text()).toBe("undefined");
  expect(await slow.text()).toBe("first");
  const drained = await waiting;
  expect(drained.status).toBe(0);
  expect(JSON.parse(drained.stdout)).toMatchObject({ name: "only", draining: true, requestsInFlight: 0 });
  stream.abort();
  await events.text().catch(() => "");
  expect((await drain("--undo")).status).toBe(0);
  expect((await fetch(`${daemon.url}/api/health/ready`)).status).toBe(200);
});

test("a key for one namespace does not see the number of requests in flight", async () => {
  const { data } = await client.keys.create({ body: { name: "team", role: "admin", namespaces: ["@team"] } });

  const [instance] = await connect(daemon.url, data.key).instances.list();

  expect(instance).toMatchObject({ name: "only", state: "ready" });
  expect(instance).not.toHaveProperty("requestsInFlight");
});
