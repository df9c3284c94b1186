import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { InstanceClient } from "../../../../src/server/instances/instance-client.js";
import { proofOf } from "../../../../src/server/instances/own-instance.js";

const identity = { id: "b", run: "b-1" };

/** Starts the daemon `b`. While `isSilent` is true, it gives no response. */
async function startDaemon() {
  const daemon = { isSilent: false, requestCount: 0, url: "" };
  const server = createServer(({ url = "" }, response) => {
    daemon.requestCount += 1;
    if (daemon.isSilent) return;
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
  const ask = (call: () => Promise<string>) => client.ask({ ...identity, url: daemon.url }, { key: "k", offered: {}, call });
  return { daemon, ask };
}

test("a call that waits for 2 s for other calls ends, and does not keep a place", async () => {
  const { ask } = await startDaemon();
  const gate = Promise.withResolvers<string>();
  const calls = Array.from({ length: 16 }, async () => ask(() => gate.promise));

  expect(await ask(async () => "late")).toEqual({
    state: "unreachable",
    problem: "This daemon asks too many others at the same time.",
  });

  gate.resolve("done");
  expect(new Set((await Promise.all(calls)).map((answer) => JSON.stringify(answer)))).toEqual(new Set(['{"result":"done"}']));
  expect(await Promise.all(Array.from({ length: 17 }, async () => ask(async () => "next")))).toEqual(
    Array.from({ length: 17 }, () => ({ result: "next" })),
  );
});

test("a daemon without a response delays one call, and is asked again when it responds", async () => {
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
