import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

const crashed = "502 WORKER_CRASHED";
const fsHead = `import fs from "node:fs";`;
const manifest = "timeout: 5s\nmemory: 64mb";
/** Writes to a descriptor for 800 ms as fast as possible. */
const pour = (descriptor: number, bytes: string) =>
  `const bytes = ${bytes}; const end = Date.now() + 800; while (Date.now() < end) try { fs.writeSync(${descriptor}, bytes); } catch (error) { if (error.code !== "EAGAIN") throw error; }`;

/** Keeps a response unread for 1 s, then disconnects. */
async function askWithoutReading(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = http.get(`${url}/bad`, { agent: false }, async (response) => {
      response.pause();
      await delay(1000);
      response.destroy();
      resolve(`${response.statusCode} left`);
    });
    asked.once("error", reject);
  });
}

const offenders: Offender[] = [
  {
    name: "10,000 promises for waitUntil that never settle",
    source: `for (let index = 0; index < 10_000; index += 1) ctx.waitUntil(new Promise(() => {})); return new Response("answered");`,
    expected: "200 answered",
    lingers: true,
  },
  {
    name: "console.log",
    source: `for (let line = 0; line < 50_000; line += 1) console.log("line", line, "x".repeat(100)); return new Response("logged");`,
    expected: "200 logged",
  },
  {
    name: "console.log of one huge text",
    source: `console.error("x".repeat(30_000_000)); return new Response("logged");`,
    expected: "200 logged",
  },
  {
    name: "process.stdout.write",
    source: `const end = Date.now() + 800; while (Date.now() < end) process.stdout.write("x".repeat(1000) + "\\n"); return new Response("written");`,
    // Waiting messages count as memory of the isolate.
    expected: ["200 written", crashed],
  },
  {
    name: "process.stderr.write without a line end",
    source: `for (let turn = 0; turn < 2000; turn += 1) process.stderr.write("x".repeat(8000)); return new Response("written");`,
    expected: ["200 written", crashed, "504 WORKER_TIMEOUT"],
  },
  {
    name: "raw bytes into the channel",
    head: fsHead,
    source: `${pour(3, "Buffer.alloc(65_536, 255)")} return new Response("poured");`,
    expected: crashed,
  },
  {
    name: "zeros into the channel",
    head: fsHead,
    source: `${pour(3, "Buffer.alloc(65_536)")} return new Response("poured");`,
    expected: crashed,
  },
  {
    name: "log entries into the channel",
    head: `${fsHead}
      const one = Buffer.alloc(9 + 2); one.writeUInt32LE(2, 0); one[4] = 21; one[9] = 1; one[10] = 120;`,
    source: `${pour(3, "Buffer.concat(Array.from({ length: 4000 }, () => one))")} return new Response("poured");`,
    expected: [crashed, "504 WORKER_TIMEOUT"],
  },
  {
    name: "long log entries into the channel",
    head: `${fsHead}
      const one = Buffer.alloc(9 + 300_000, 120); one.writeUInt32LE(300_000, 0); one[4] = 21; one.writeUInt32LE(0, 5); one[9] = 1;`,
    source: `let at = 0; const end = Date.now() + 800; while (Date.now() < end) try { at = (at + fs.writeSync(3, one, at)) % one.length; } catch (error) { if (error.code !== "EAGAIN") throw error; } while (at > 0) try { at = (at + fs.writeSync(3, one, at)) % one.length; } catch {} return new Response("poured");`,
    expected: ["200 poured", crashed],
  },
  {
    name: "counters of background work",
    source: `const end = Date.now() + 800; while (Date.now() < end) { ctx.waitUntil(Promise.resolve()); await null; } return new Response("counted");`,
    expected: ["200 counted", crashed],
  },
  {
    name: "a chunked response that is not read",
    source: `return new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) }));`,
    strike: askWithoutReading,
    expected: "200 left",
  },
  {
    name: "a response written without backpressure",
    source: `let turns = 0; return new Response(new ReadableStream({ start(to) { const push = () => { if ((turns += 1) > 5000) return; to.enqueue(new Uint8Array(8192)); setImmediate(push); }; push(); } }));`,
    strike: askWithoutReading,
    expected: "200 left",
  },
  {
    name: "a response in chunks of one byte",
    source: `let turns = 0; return new Response(new ReadableStream({ pull(to) { if ((turns += 1) > 30_000) to.close(); else to.enqueue(new Uint8Array([49])); } }));`,
    expected: `200 ${"1".repeat(200)}`,
  },
  {
    name: "20,000 headers",
    source: `const headers = new Headers(); for (let index = 0; index < 20_000; index += 1) headers.append("x-" + index, "v"); return new Response("ok", { headers });`,
    expected: "502 WORKER_BAD_RESPONSE",
  },
  {
    name: "a header of 5 MB",
    source: `return new Response("ok", { headers: { "x-large": "v".repeat(5_000_000) } });`,
    expected: "502 WORKER_BAD_RESPONSE",
  },
  {
    name: "many timers at once",
    source: `await Promise.all(Array.from({ length: 20_000 }, (_, index) => new Promise((resolve) => setTimeout(resolve, index % 500)))); return new Response("over");`,
    expected: "200 over",
  },
  {
    name: "connections to the other worker",
    head: `import net from "node:net";`,
    source: `const { host } = new URL("http://" + request.headers.get("x-forwarded-host")); const [hostname, port] = host.split(":");
      const sockets = []; for (let index = 0; index < 500; index += 1) { const socket = net.connect(Number(port), hostname); socket.on("error", () => {}); socket.write("GET /neighbor/ HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n"); sockets.push(socket); }
      await new Promise((resolve) => setTimeout(resolve, 500)); for (const socket of sockets) socket.destroy(); return new Response("connected");`,
    expected: "200 connected",
  },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that floods the daemon", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (flood of $name)", (offender) => harness.check({ manifest, ...offender }));
});
