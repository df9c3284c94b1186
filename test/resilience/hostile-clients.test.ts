import { once, setMaxListeners } from "node:events";
import http from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

/** Time until an offending client disconnects. */
const offendingMs = 1200;
const aborted = 1000;

async function open(url: string, head: string): Promise<Socket> {
  const { hostname, port, pathname } = new URL(`${url}/bad`);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(head.replace("PATH", pathname).replace("\n\n", `\nhost: ${hostname}:${port}\n\n`).replaceAll("\n", "\r\n"));
  return socket;
}

/** Returns the status of a response that has started, or "silence". */
function statusOf(socket: Socket): string {
  const bytes = socket.read() as Buffer | null;
  return bytes === null ? "silence" : bytes.toString("latin1").split(" ")[1]!;
}

async function leave(socket: Socket, outcome: string): Promise<string> {
  socket.destroy();
  await once(socket, "close");
  return outcome;
}

/** Sends an endless body as fast as the server reads it. */
async function pourBody(url: string): Promise<string> {
  const socket = await open(url, "POST PATH HTTP/1.1\ntransfer-encoding: chunked\n\n");
  socket.pause();
  const piece = `4000\r\n${"x".repeat(0x4000)}\r\n`;
  const endMs = performance.now() + offendingMs;
  while (performance.now() < endMs && !socket.destroyed) {
    if (socket.write(piece)) await delay(0);
    else await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), delay(100)]);
  }
  return leave(socket, statusOf(socket));
}

async function sendSlowly(url: string): Promise<string> {
  const socket = await open(url, "POST PATH HTTP/1.1\ncontent-length: 100000\n\n");
  socket.pause();
  for (let turn = 0; turn < 5; turn += 1) {
    socket.write("x");
    await delay(offendingMs / 5);
  }
  return leave(socket, statusOf(socket));
}

async function readSlowly(url: string): Promise<string> {
  const socket = await open(url, "GET PATH HTTP/1.1\n\n");
  socket.pause();
  const bytes: Buffer[] = [];
  for (let turn = 0; turn < 12; turn += 1) {
    await delay(offendingMs / 12);
    const byte = socket.read(1) as Buffer | null;
    if (byte) bytes.push(byte);
  }
  const text = Buffer.concat(bytes).toString("latin1");
  return leave(socket, text.length > 3 && "HTTP/1.1 200 OK".startsWith(text) ? "slowly" : text);
}

/** Sends one request and aborts it by the signal. */
async function abortOne(url: string, signal: AbortSignal): Promise<void> {
  const asked = http.get(`${url}/bad`, { agent: false });
  const closed = new Promise((resolve) => asked.once("close", resolve));
  asked.on("error", () => undefined);
  const giveUp = () => void asked.destroy();
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  await closed;
  signal.removeEventListener("abort", giveUp);
}

const reads = `let size = 0; for await (const piece of request.body) size += piece.length; return new Response(String(size));`;
const timely = "timeout: 20s";

const offenders: Offender[] = [
  { name: "an endless body that the worker reads", source: reads, manifest: timely, strike: pourBody, expected: ["413", "silence"] },
  {
    name: "an endless body that the worker never reads",
    source: `return new Promise(() => {});`,
    // The server does not read from this connection, so it cannot see the close. The time limit ends the request.
    manifest: "timeout: 3s",
    strike: pourBody,
    expected: "silence",
  },
  {
    name: "an endless body after the response",
    source: `return new Response("early");`,
    manifest: timely,
    strike: pourBody,
    expected: "200",
  },
  { name: "a body sent byte by byte", source: reads, manifest: timely, strike: sendSlowly, expected: "silence" },
  {
    name: "a large response read byte by byte",
    source: `return new Response("y".repeat(50_000_000));`,
    manifest: "timeout: 20s\nmemory: 256mb",
    strike: readSlowly,
    expected: "slowly",
  },
  {
    name: `${aborted} requests aborted in sequence`,
    source: `return new Promise((resolve) => setTimeout(() => resolve(new Response("late")), 50));`,
    manifest: timely,
    strike: async (url) => {
      for (let index = 0; index < aborted; index += 1) await abortOne(url, AbortSignal.timeout(index % 3));
      return "all given up";
    },
    expected: "all given up",
  },
  {
    name: `${aborted} requests aborted together`,
    // Node ends all these connections in one turn of the event loop. A bare server needs the same time.
    latencyNoiseMs: 150,
    source: `return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve(new Response("heard"))));`,
    manifest: timely,
    // Opening 1,000 connections within 1 ms would be an extra load, so they open within 1 s and close together.
    strike: async (url) => {
      const end = new AbortController();
      setMaxListeners(aborted, end.signal);
      const all = Array.from({ length: aborted }, async (_, index) => {
        await delay(index);
        await abortOne(url, end.signal);
      });
      await delay(aborted + 200);
      end.abort();
      await Promise.all(all);
      return "all given up";
    },
    expected: "all given up",
  },
  {
    name: "50 streams that the client aborts",
    source: `return new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) }));`,
    manifest: timely,
    strike: async (url) => {
      const sockets = await Promise.all(Array.from({ length: 50 }, () => open(url, "GET PATH HTTP/1.1\n\n")));
      await Promise.all(sockets.map((socket) => once(socket, "readable")));
      await Promise.all(sockets.map((socket) => leave(socket, "")));
      return "all left";
    },
    expected: "all left",
  },
  {
    name: "300 idle connections",
    source: `return new Response("ok");`,
    manifest: timely,
    strike: async (url) => {
      const sockets = await Promise.all(Array.from({ length: 300 }, () => open(url, "GET PATH HTTP/1.1")));
      await delay(500);
      await Promise.all(sockets.map((socket) => leave(socket, "")));
      return "all left";
    },
    expected: "all left",
  },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a client that sends or reads in an abusive way", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (traffic: $name)", (offender) => harness.check(offender));
});
