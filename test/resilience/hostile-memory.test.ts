import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

/** What the daemon itself may have more of after all of it; its own heap breathes by some of that. */
const daemonGrowthBytes = 64 * 1024 * 1024;

let house: IsolationHarness;
beforeAll(async () => {
  house = await IsolationHarness.open();
});
afterAll(() => house.close());

const crashed = "502 WORKER_CRASHED";
/** Memory beside the heap: the allocation throws, or the process ends; a worker that swallows the error may run out of its time instead. */
const refused = [crashed, "502 WORKER_BAD_RESPONSE"];
/** Collecting garbage with all that memory takes its time, the more so beside others; the loop's own time limit is not what is tried here. */
const manifest = "timeout: 15s\nmemory: 32mb";

/** Memory that grows, in every shape. */
const offenders: Offender[] = [
  { name: "pushing without end", source: `const list = []; for (;;) list.push(list.length, 0.5, {});`, expected: crashed },
  { name: "big fills", source: `const all = []; for (;;) all.push(new Array(1e6).fill(all.length));`, expected: crashed },
  { name: "a growing Map", source: `const map = new Map(); for (let key = 0; ; key += 1) map.set(key, { key });`, expected: crashed },
  { name: "strings", source: `const all = []; for (;;) all.push(("x" + all.length).repeat(1e5).split(""));`, expected: crashed },
  {
    name: "many small objects in a chain",
    source: `let chain = null; for (;;) chain = { chain, a: [1], b: {} };`,
    expected: crashed,
  },
  {
    name: "closures",
    source: `const all = []; for (;;) { const held = new Array(100).fill(1); all.push(() => held); }`,
    expected: crashed,
  },
  {
    name: "JSON.parse of something huge",
    source: `return Response.json(JSON.parse("[" + "[],".repeat(9_000_000) + "[]]"));`,
    expected: crashed,
  },
  {
    name: "buffers that are held",
    source: `const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));`,
    expected: refused,
  },
  {
    name: "array buffers that are held",
    source: `const all = []; for (;;) { const bytes = new Uint8Array(new ArrayBuffer(4 * 1024 * 1024)); bytes.fill(1); all.push(bytes); }`,
    expected: refused,
  },
  {
    name: "a WASM memory that grows",
    source: `const memory = new WebAssembly.Memory({ initial: 1 }); for (;;) { memory.grow(64); new Uint8Array(memory.buffer).fill(1, -64 * 65536); }`,
    expected: refused,
  },
  {
    name: "memory by hundreds of promises at once",
    source: `await Promise.all(Array.from({ length: 500 }, async (_, index) => { const all = []; for (;;) { all.push(new Array(1e4).fill(index)); await null; } }));`,
    expected: crashed,
  },
];

// Several attempts on a busy machine.
describe("a worker that eats memory harms nobody else", { timeout: 90_000 }, () => {
  test.each(offenders)("$name", (offender) => house.endure({ manifest, ...offender }));

  test("and the daemon has not grown", async () => {
    const before = daemonBytes();
    await house.endure({
      name: "buffers once more",
      manifest,
      source: `const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));`,
      expected: refused,
    });
    expect(daemonBytes() - before).toBeLessThan(daemonGrowthBytes);
  });
});

function daemonBytes(): number {
  const status = readFileSync(`/proc/${house.daemon.process.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
