import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

/** Allowed growth of the daemon after all attempts. The size of its heap alone varies by a part of this value. */
const daemonGrowthBytes = 64 * 1024 * 1024;

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

const crashed = "502 WORKER_CRASHED";
/** Outside of the heap, the allocation throws or the process ends. A worker that catches the error can time out instead. */
const refused = [crashed, "502 WORKER_BAD_RESPONSE"];
/** Garbage collection of that much memory is slow on a busy machine, and this test is not about the time limit. */
const manifest = "timeout: 15s\nmemory: 32mb";

/** Code that uses more and more memory. */
const offenders: Offender[] = [
  { name: "an array that grows without limit", source: `const list = []; for (;;) list.push(list.length, 0.5, {});`, expected: crashed },
  {
    name: "arrays of 1,000,000 elements",
    source: `const all = []; for (;;) all.push(new Array(1e6).fill(all.length));`,
    expected: crashed,
  },
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
    name: "JSON.parse of a huge text",
    source: `return Response.json(JSON.parse("[" + "[],".repeat(9_000_000) + "[]]"));`,
    expected: crashed,
  },
  {
    name: "buffers that stay referenced",
    source: `const all = []; for (;;) all.push(Buffer.alloc(8 * 1024 * 1024, 1));`,
    expected: refused,
  },
  {
    name: "array buffers that stay referenced",
    source: `const all = []; for (;;) { const bytes = new Uint8Array(new ArrayBuffer(4 * 1024 * 1024)); bytes.fill(1); all.push(bytes); }`,
    expected: refused,
  },
  {
    name: "a WebAssembly memory that grows",
    source: `const memory = new WebAssembly.Memory({ initial: 1 }); for (;;) { memory.grow(64); new Uint8Array(memory.buffer).fill(1, -64 * 65536); }`,
    expected: refused,
  },
  {
    name: "hundreds of promises that allocate at once",
    source: `await Promise.all(Array.from({ length: 500 }, async (_, index) => { const all = []; for (;;) { all.push(new Array(1e4).fill(index)); await null; } }));`,
    expected: crashed,
  },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that exhausts its memory", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (allocation: $name)", (offender) => harness.check({ manifest, ...offender }));

  test("does not increase the daemon's memory", async () => {
    const before = daemonBytes();
    await harness.check({
      name: "buffers that stay referenced",
      manifest,
      source: `const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));`,
      expected: refused,
    });
    expect(daemonBytes() - before).toBeLessThan(daemonGrowthBytes);
  });
});

function daemonBytes(): number {
  const status = readFileSync(`/proc/${harness.daemon.process.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
