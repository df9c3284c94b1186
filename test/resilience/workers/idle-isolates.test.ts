import { afterAll, beforeAll, expect, test } from "vitest";
import { collectGarbage } from "../../support/collect-garbage.js";
import { WorkerServer } from "../../support/worker-server.js";

const app = `export default {
  fetch: () => new Response("ok"),
  onIdle() { console.log("idle now"); },
};`;
const megabyte = 1024 * 1024;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

const timesIdle = (worker: string) => server.log.filter((line) => line.worker === worker && line.msg.includes("idle now")).length;

const buffersMb = () => {
  collectGarbage();
  return process.memoryUsage().arrayBuffers / megabyte;
};

/** Installs a worker, sends one request and deletes the worker. */
const serveOnce = async (name: string, onServed?: () => Promise<void>) => {
  const { folder } = await server.add(name, { files: { "index.js": app }, manifest: { idleTimeout: "100ms", ttl: "1h" } });
  expect(await server.text(`/${name}/`)).toBe("ok");
  await onServed?.();
  server.remove(name);
  await server.engine.retire(folder, undefined);
};

test("the isolate calls the worker's function onIdle each time it becomes idle", async () => {
  await serveOnce("again", async () => {
    await expect.poll(() => timesIdle("again")).toBe(1);
    expect(await server.text("/again/")).toBe("ok");
    await expect.poll(() => timesIdle("again")).toBe(2);
  });
});

test("stopped isolates free their memory, with and without earlier onIdle calls", async () => {
  await serveOnce("first");
  const before = buffersMb();
  for (let count = 0; count < 8; count += 1) {
    await serveOnce(`hurried-${count}`);
    await serveOnce(`idle-${count}`, () => expect.poll(() => timesIdle(`idle-${count}`)).toBe(1));
  }
  // Each of the 16 isolates used 0.5 MB. The standby isolate has its own buffers.
  await expect.poll(() => buffersMb() - before).toBeLessThan(1.5);
});
