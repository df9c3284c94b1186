import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { InstanceClient } from "../../../../src/server/instances/instance-client.js";
import { proofOf } from "../../../../src/server/instances/own-instance.js";

test("a call that waits for 2 s for other calls ends, and does not keep a place", async () => {
  const identity = { id: "b", run: "b-1" };
  const server = createServer(({ url = "" }, response) => {
    const challenge = new URL(url, "http://b").searchParams.get("challenge") ?? "";
    const found = { name: "runtimed", api: "/api", version: "1", cpanel: "/", docs: "/", instance: "b" };
    response.end(JSON.stringify({ ...found, proof: proofOf(identity, challenge) }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new InstanceClient(url);
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const gate = Promise.withResolvers<string>();
  const ask = (call: () => Promise<string>) => client.ask({ ...identity, url }, { key: "k", offered: {}, call });
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
