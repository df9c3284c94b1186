import { once } from "node:events";
import { connect as openSocket, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { exchange } from "../support/exchange.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";
import { WorkerServer } from "../support/worker-server.js";

const coldWorkers = 20;
const attacks = 500;
const echo = "export default { async fetch(request) { return new Response(await request.text()); } };";

/** Bodies that end early while their worker starts: a bad chunk size, an end within a chunk, a reset within a chunk, a bad chunk end. */
const brokenBodies = [
  { rest: "0x5\r\nabcde", leave: () => {} },
  { rest: "5\r\nab", leave: (socket: Socket) => void setTimeout(() => socket.end(), 60) },
  { rest: "5\r\nab", leave: (socket: Socket) => void setTimeout(() => socket.resetAndDestroy(), 60) },
  { rest: "5\r\nabcdeXX3\r\n", leave: (socket: Socket) => void setTimeout(() => socket.destroy(), 5) },
];

describe("a client that truncates request bodies while workers start", () => {
  let daemon: TestDaemon;
  let client: Client;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    daemon = await startDaemon({ env: { RUNTIME_POOL_SIZE: "4" } });
    client = connect(daemon.url, daemon.rootKey);
    await uploadWorker(client, "other", { "index.js": "export default { fetch: () => new Response('fine') };" });
    for (let index = 0; index < coldWorkers; index += 1) await uploadWorker(client, `cold-${index}`, { "index.js": echo }, "timeout: 3s");
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await daemon.dispose();
  });

  const attack = async (index: number): Promise<void> => {
    const { rest, leave } = brokenBodies[index % brokenBodies.length] as (typeof brokenBodies)[number];
    const socket = openSocket(Number(new URL(daemon.url).port), "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write(`POST /cold-${index % coldWorkers}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${rest}`);
    leave(socket);
  };

  const inFlight = async (): Promise<string[]> =>
    (await client.metrics.show({ query: {} })).workers.flatMap(({ name, requests }) => (requests.inFlight > 0 ? [name] : []));

  it(`leaves no running request after ${attacks} attacks, and other workers respond`, async () => {
    for (let index = 0; index < attacks; index += 1) {
      await attack(index);
      // Workers stay cold only for a short time, so the attacks are spread over starts and evictions.
      if (index % 25 === 24) await delay(50);
    }
    await expect.poll(inFlight, { timeout: 5000 }).toEqual([]);
    const response = await fetch(`${daemon.url}/other/`);
    expect([response.status, await response.text()]).toEqual([200, "fine"]);
    const startedMs = performance.now();
    expect(await daemon.stop()).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });
});

describe("a client that stops sending a request body, but stays connected", () => {
  let server: WorkerServer;

  beforeAll(async () => {
    server = await WorkerServer.start({ stallTimeoutMs: 500 });
    await server.add("echo", { files: { "index.js": echo }, manifest: { timeout: "20s" } });
    await server.text("/echo/");
  });
  afterAll(() => server.stop());

  it.each([
    ["a streamed body", "Transfer-Encoding: chunked", "5\r\nabcde\r\n"],
    ["a large body of known length", "Content-Length: 1000000", "abcde"],
    ["a small body of known length", "Content-Length: 10", "abcde"],
  ])("receives a 504 response after the stall timeout (body: %s)", async (_, header, bytes) => {
    const answer = await exchange(server.url, `POST /echo/ HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${bytes}`);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([504, { error: expect.objectContaining({ code: "WORKER_TIMEOUT" }) }]);
    expect(server.engine.numbers().map(({ meter }) => meter.inFlightCount)).toEqual([0]);
  });
});
