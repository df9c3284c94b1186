import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";
let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());
const code = `
const hog = [];
const shapes = {
  "/push": () => { for (;;) hog.push(1); },
  "/objects": () => { for (;;) hog.push({ a: [hog.length] }); },
  "/fill": () => { for (;;) hog.push(new Array(5e6).fill(hog.length)); },
  "/bigfill": () => { hog.push(new Array(2e8).fill(0)); },
  "/map": () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, { i }); },
  "/buffers": () => { for (;;) hog.push(Buffer.alloc(8388608, 1)); },
  "/wasm": () => { const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); for (;;) { m.grow(256); new Uint8Array(m.buffer).fill(1); } },
  "/shared": () => { for (;;) { const b = new SharedArrayBuffer(8388608); new Uint8Array(b).fill(1); hog.push(b); } },
  "/strings": () => { let s = "x"; for (;;) { s += s + Math.random(); hog.push(Buffer.from(s).toString("latin1")); } },
  "/texts": () => { const bytes = Buffer.alloc(5e7, 120); for (;;) hog.push(bytes.toString("latin1")); },
};
export default { fetch: (request) => { const f = shapes[new URL(request.url).pathname]; return f ? (f(), new Response("done")) : new Response("ok"); } };`;
const shapes = ["push", "objects", "fill", "bigfill", "map", "buffers", "wasm", "shared", "strings", "texts"];

test.each(shapes)("an isolate stops at its memory limit, and a new isolate starts (allocation: %s)", async (shape) => {
  await server.add(shape, { files: { "index.js": code }, manifest: { memory: "64mb" } });
  await server.text(`/${shape}/ok`);
  expect(await server.refusal(`/${shape}/${shape}`)).toMatchObject({
    status: 502,
    code: "WORKER_CRASHED",
    message: expect.stringContaining("memory limit of 64 MB"),
  });
  expect(await server.text(`/${shape}/ok`)).toBe("ok");
});
