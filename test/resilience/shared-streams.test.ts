import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { creditWindowBytes } from "../../src/server/workers/protocol/frames.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { neighborSource, SteadyLoad } from "../support/steady-load.js";

const bodies = `
const piece = new Uint8Array(64 * 1024);
export default { async fetch(request) {
  if (request.method === "GET") return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }));
  let bytes = 0;
  for await (const chunk of request.body) bytes += chunk.byteLength;
  return new Response(String(bytes));
} };`;
/** A rate that every machine reaches. */
const rateBytes = 5 * 1024 * 1024;
const bytesPerMs = (rateBytes * availableParallelism()) / 1000;
/** Number of bytes of a body that the sender can send before the first credit, plus the bytes of this credit. */
const aheadBytes = 2 * creditWindowBytes;

let daemon: TestDaemon;
let neighbor: SteadyLoad;
beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_SHARED_STREAM_RATE: String(rateBytes) } });
  const client = connect(daemon.url, daemon.rootKey);
  for (const [name, code] of Object.entries({ bodies, neighbor: neighborSource })) {
    const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0", "maxBodySize: 20mb\n"), "index.js": code });
    await client.workers.upload({ file: uploadOf(`${name}.tgz`, archive) });
  }
  neighbor = new SteadyLoad(`${daemon.url}/neighbor/`);
  while ((await neighbor.take()).timesMs.length === 0) await delay(50);
});
afterAll(async () => {
  await neighbor.stop();
  await daemon.dispose();
});

async function ask(method: string, body?: Buffer): Promise<IncomingMessage> {
  const request = http.request(`${daemon.url}/bodies/`, { method, agent: false }).end(body);
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return answer;
}

test("the daemon slows down endless responses while other workers have requests", async () => {
  const answers = await Promise.all([ask("GET"), ask("GET")]);
  const beganMs = performance.now();
  let bytes = 0;
  for (const answer of answers) answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
  await delay(2000);
  const elapsedMs = performance.now() - beganMs;
  for (const answer of answers) answer.destroy();

  expect(bytes).toBeGreaterThan(2 * aheadBytes);
  expect(bytes).toBeLessThan(elapsedMs * bytesPerMs + 2 * aheadBytes);
  expect((await neighbor.take()).problems).toEqual([]);
});

test("the daemon slows down a streamed request body while other workers have requests", async () => {
  const body = Buffer.alloc(16 * 1024 * 1024);
  const beganMs = performance.now();
  const answer = await ask("POST", body);
  expect((await answer.toArray()).join("")).toBe(String(body.length));
  expect(performance.now() - beganMs).toBeGreaterThan((body.length - 2 * aheadBytes) / bytesPerMs);
  expect((await neighbor.take()).problems).toEqual([]);
});
