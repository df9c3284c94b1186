import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { list } from "../../../../src/shared/contract/cron.js";
import { InstanceClient } from "../../../../src/server/instances/instance-client.js";
import { proofOf } from "../../../../src/server/instances/own-instance.js";

const identity = { id: "b", run: "b-1" };

/** Starts the daemon `b`. While `isSilent` is true, it gives no response. While `isStalled` is true, it only sends its identity. */
async function startDaemon() {
  const daemon = { isSilent: false, isStalled: false, requestCount: 0, url: "" };
  const server = createServer(({ url = "" }, response) => {
    daemon.requestCount += 1;
    if (daemon.isSilent || (daemon.isStalled && url.startsWith("/api"))) return;
    if (url.startsWith("/api")) {
      response.end("[]");
      return;
    }
    const challenge = new URL(url, "http://b").searchParams.get("challenge") ?? "";
    const found = { name: "runtimed", api: "/api", version: "1", cpanel: "/", docs: "/", instance: "b" };
    response.end(JSON.stringify({ ...found, proof: proofOf(identity, challenge) }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  daemon.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new InstanceClient(daemon.url);
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const instance = { ...identity, url: daemon.url };
  const ask = (call: () => Promise<string>) => client.ask(instance, { key: "k", offered: {}, call });
  const askForJobs = () =>
    client.ask(instance, { key: "k", offered: { cron: { list } }, call: ({ cron }) => cron.list({ query: { instance: "self" } }) });
  return { client, daemon, instance, ask, askForJobs };
}

test("a call that waits 2 s for other calls fails, and later calls still succeed", async () => {
  const { ask } = await startDaemon();
  const gate = Promise.withResolvers<string>();
  const calls = Array.from({ length: 4 }, async () => ask(() => gate.promise));

  expect(await ask(async () => "late")).toEqual({
    state: "unreachable",
    problem: "The daemon that received the request already sends the maximum number of requests to other daemons.",
  });

  gate.resolve("done");
  expect(new Set((await Promise.all(calls)).map((answer) => JSON.stringify(answer)))).toEqual(new Set(['{"result":"done"}']));
  expect(await Promise.all(Array.from({ length: 17 }, async () => ask(async () => "next")))).toEqual(
    Array.from({ length: 17 }, () => ({ result: "next" })),
  );
});

test("an unresponsive daemon delays only one call, and receives calls after recovery", async () => {
  const { daemon, ask } = await startDaemon();
  const silent = { state: "unreachable", problem: "It did not respond within 2 s." };
  daemon.isSilent = true;
  expect(await ask(async () => "late")).toEqual(silent);
  expect(daemon.requestCount).toBe(1);

  const startedMs = performance.now();
  for (let count = 0; count < 10; count += 1) expect(await ask(async () => "later")).toEqual(silent);

  // The limit of one call is 2 s.
  expect(performance.now() - startedMs).toBeLessThan(1_500);
  await expect.poll(() => daemon.requestCount).toBe(2);
  daemon.isSilent = false;
  await expect.poll(() => ask(async () => "again"), { timeout: 5_000 }).toEqual({ result: "again" });
});

test("a daemon that stalls after its identity check delays each operation only once", async () => {
  const { daemon, ask, askForJobs } = await startDaemon();
  const slow = { state: "unreachable", problem: "Its response takes longer than 2 s." };
  daemon.isStalled = true;
  expect(await askForJobs()).toEqual(slow);

  const startedMs = performance.now();
  for (let count = 0; count < 5; count += 1) expect(await askForJobs()).toEqual(slow);

  expect(performance.now() - startedMs).toBeLessThan(1_500);
  expect(await ask(async () => "another operation")).toEqual({ result: "another operation" });
});

test("streams and calls fail fast after a stream found that a daemon is unresponsive", async () => {
  const { client, daemon, instance, ask } = await startDaemon();
  const silent = { state: "unreachable", problem: "It did not respond within 2 s." };
  const question = { key: "k", offered: {}, follow: async function* () {} };
  const open = () => client.follow(instance, question, new AbortController().signal);
  daemon.isSilent = true;
  expect(await open()).toEqual(silent);

  const startedMs = performance.now();
  expect([await open(), await ask(async () => "late")]).toEqual([silent, silent]);

  expect(performance.now() - startedMs).toBeLessThan(1_500);
});

test("a daemon is not considered unresponsive when a client closes the stream", async () => {
  const { client, daemon, instance, ask } = await startDaemon();
  daemon.isSilent = true;
  const closing = new AbortController();
  const opened = client.follow(instance, { key: "k", offered: {}, follow: async function* () {} }, closing.signal);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  closing.abort();
  await opened;

  daemon.isSilent = false;

  expect(await ask(async () => "at once")).toEqual({ result: "at once" });
});
