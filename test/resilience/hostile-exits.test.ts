import { afterAll, beforeAll, describe, test } from "vitest";
import { IsolationHarness, strikeWithGet, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

const crashed = "502 WORKER_CRASHED";
const threw = "502 WORKER_BAD_RESPONSE";
const fsHead = `import fs from "node:fs";`;
/** All pids from the offender's to the daemon's, including those of the other worker and the daemon. */
const everyPid = `const pids = []; for (let pid = process.pid + 50; pid >= process.ppid - 5 && pid > 1; pid -= 1) if (pid !== process.pid) pids.push(pid);`;

/** Attempts to end its own process and others. */
const offenders: Offender[] = [
  { name: "process.exit", source: `process.exit(0);`, expected: crashed },
  { name: "process.reallyExit", source: `process.reallyExit(7);`, expected: crashed },
  { name: "process.abort", source: `process.abort();`, expected: crashed },
  { name: "process.kill of itself", source: `process.kill(process.pid, "SIGKILL");`, expected: threw },
  { name: "process.kill of the daemon", source: `process.kill(process.ppid, "SIGKILL");`, expected: threw },
  {
    name: "process.kill of all processes, by every alias",
    source: `${everyPid}
      let sent = 0;
      for (const kill of [process.kill, process._kill, process.constructor.prototype.kill, Object.getPrototypeOf(process).kill])
        for (const pid of pids) try { kill.call(process, pid, 9); sent += 1; } catch {}
      return new Response("sent " + sent);`,
    expected: "200 sent 0",
  },
  {
    name: "closed descriptors",
    head: fsHead,
    source: `for (let fd = 0; fd <= 40; fd += 1) try { fs.closeSync(fd); } catch {} return new Response("closed");`,
    expected: crashed,
  },
  { name: "endless recursion", source: `const deeper = () => deeper() + 1; return new Response(String(deeper()));`, expected: threw },
  {
    name: "an unhandled rejection",
    source: `void Promise.reject(new Error("nobody caught this")); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "an error thrown in a timer",
    source: `setTimeout(() => { throw new Error("thrown in a timer"); }, 1); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "an error thrown in an event handler",
    head: `import { EventEmitter } from "node:events";`,
    source: `const events = new EventEmitter(); events.on("late", () => { throw new Error("thrown in a handler"); }); setImmediate(() => events.emit("late")); request.signal.addEventListener("abort", () => { throw new Error("thrown at the end"); }); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "an error event without a listener",
    head: `import net from "node:net";`,
    source: `net.connect(1, "127.0.0.1"); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "10,000 rejected promises that are not awaited",
    source: `for (let index = 0; index < 10_000; index += 1) void (async () => { throw new Error("unawaited " + index); })(); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "10,000 promises that never settle",
    source: `for (let index = 0; index < 10_000; index += 1) void new Promise(() => {}); return new Response("answered");`,
    expected: "200 answered",
  },
  {
    name: "an error whose properties all throw",
    source: `throw new Proxy(new Error(), { get() { throw new Error("trap"); }, getPrototypeOf() { throw new Error("trap"); } });`,
    expected: threw,
  },
  {
    name: "replaced prototypes of built-in objects",
    source: `Promise.prototype.then = () => {}; Array.prototype.push = () => { throw new Error(); }; Buffer.prototype.copy = () => {}; Map.prototype.get = () => {}; return new Response("answered");`,
    expected: ["200 answered", crashed, threw, "504 WORKER_TIMEOUT"],
    // A broken worker fails its own requests until a new upload.
    strike: async (url) => {
      const outcome = await strikeWithGet(url);
      await harness.client.workers.restart({ params: { scope: "_", name: url.split("/").at(-1) as string, version: "1.0.0" } });
      return outcome;
    },
  },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that exits or breaks its process", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (cause: $name)", (offender) => harness.check(offender));
});
