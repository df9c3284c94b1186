import { afterAll, beforeAll, describe, test } from "vitest";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open({ RUNTIME_WORKER_PERMISSIONS: "network,child-process" });
});
afterAll(() => harness.close());

const timedOut = "504 WORKER_TIMEOUT";

/** Code that never returns. */
const offenders: Offender[] = [
  { name: "an endless loop", source: `for (;;);`, expected: timedOut },
  { name: "an endless chain of promises", source: `for (;;) await null;`, expected: timedOut },
  {
    name: "an endless chain of nextTick",
    source: `return new Promise(() => { const next = () => process.nextTick(next); next(); });`,
    expected: timedOut,
  },
  {
    name: "an endless chain of setImmediate",
    source: `return new Promise(() => { const next = () => { if (!globalThis.isOver) setImmediate(next); }; next(); });`,
    expected: timedOut,
  },
  { name: "a wait that never ends", source: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`, expected: timedOut },
  {
    name: "a read that blocks on an inherited descriptor",
    head: `import { readSync } from "node:fs";`,
    source: `const got = []; for (const fd of [0, 1, 2, 3]) try { got.push(readSync(fd, Buffer.alloc(1))); } catch (error) { got.push(error.code); } return new Response(got.join());`,
    // A descriptor that the isolate set to non-blocking returns EAGAIN.
    expected: [timedOut, "200 0,EAGAIN,EAGAIN,EAGAIN"],
  },
  {
    name: "a blocking program with child-process",
    head: `import { execSync } from "node:child_process";`,
    manifest: "timeout: 500ms\npermissions: [child-process]",
    source: `execSync("sleep 61"); return new Response("slept");`,
    expected: timedOut,
  },
  {
    name: "a regular expression with exponential backtracking",
    source: `return new Response(String(/^(a+)+$/.test("a".repeat(60) + "b")));`,
    expected: timedOut,
  },
  {
    name: "timers that create timers",
    source: `return new Promise(() => { const next = () => { if (globalThis.timers > 200_000) return; for (let i = 0; i < 2; i += 1) { globalThis.timers = (globalThis.timers ?? 0) + 1; setTimeout(next, 1); } }; next(); });`,
    expected: timedOut,
  },
  { name: "a promise that never settles", source: `return new Promise(() => {});`, expected: timedOut },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that never returns", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (cause: $name)", (offender) => harness.check(offender));
});
