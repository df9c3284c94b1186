import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { holdUp, whileHeldUp } from "../../support/hold-up.js";
import { WorkerServer } from "../../support/worker-server.js";

// The engine runs in this process: blocking the process blocks the engine.
let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start({ poolSize: 4 });
});
afterAll(() => server.stop());

const slowToAnswer = (ms: number) =>
  `export default { fetch: () => new Promise((resolve) => setTimeout(resolve, ${ms}, new Response(String(process.pid)))) };`;

describe("a daemon after its event loop was blocked", () => {
  test("starts isolates even if it reads the first message of an isolate late", async () => {
    const names = ["late-1", "late-2", "late-3", "late-4", "late-5"];
    for (const name of names) await server.add(name, { files: { "index.js": `export default { fetch: () => new Response("${name}") };` } });
    const answers = await whileHeldUp(200, () => Promise.all(names.map((name) => server.text(`/${name}/`))));
    expect(answers).toEqual(names);
  });

  test("accepts a response that arrives before the timeout and is read later", async () => {
    await server.add("prompt", { files: { "index.js": slowToAnswer(100) }, manifest: { timeout: "400ms" } });
    const pid = await server.text("/prompt/");
    const answers = Promise.all([server.text("/prompt/"), server.text("/prompt/")]);
    await delay(50);
    await holdUp(1000);
    expect(await answers).toEqual([pid, pid]);
  });

  test("does not kill an isolate whose reply to a liveness probe is still unread", async () => {
    await server.add("alive", { files: { "index.js": slowToAnswer(600) }, manifest: { timeout: "300ms" } });
    const late = await server.refusal("/alive/");
    expect(late).toMatchObject({ status: 504, code: "WORKER_TIMEOUT" });
    // The engine sends the probe when a call times out.
    await holdUp(1500);
    await holdUp(1500);
    await delay(100);
    expect(server.log.filter(({ worker, msg }) => worker === "alive" && msg.includes("killed"))).toEqual([]);
  });
});
