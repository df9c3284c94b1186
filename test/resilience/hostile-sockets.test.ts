import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { WebSocket } from "ws";
import { IsolationHarness, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

const offendingMs = 1000;
const manifest = "timeout: 5s\nmemory: 64mb";
const accept = (work: string) =>
  `const { 0: client, 1: server } = new WebSocketPair(); server.accept(); ${work} return new Response(null, { status: 101, webSocket: client });`;

async function connectTo(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/bad`);
  socket.on("error", () => undefined);
  await once(socket, "open");
  return socket;
}

/** Reads nothing for 1 s, then drops the connection. */
async function takeNothing(url: string): Promise<string> {
  const socket = await connectTo(url);
  socket.pause();
  await delay(offendingMs);
  return drop([socket]);
}

async function drop(sockets: WebSocket[]): Promise<string> {
  const open = sockets.filter((socket) => socket.readyState !== WebSocket.CLOSED);
  const closed = open.map((socket) => once(socket, "close"));
  for (const socket of sockets) {
    socket.resume();
    socket.terminate();
  }
  await Promise.all(closed);
  return "dropped";
}

const offenders: Offender[] = [
  {
    name: "messages that the client never reads",
    source: accept(
      `const timer = setInterval(() => { try { for (let turn = 0; turn < 100; turn += 1) server.send("x".repeat(1000)); } catch { clearInterval(timer); } }, 1); server.addEventListener("close", () => clearInterval(timer));`,
    ),
    strike: takeNothing,
    expected: "dropped",
  },
  {
    name: "200,000 small messages in one turn",
    source: accept(`for (let turn = 0; turn < 200_000; turn += 1) try { server.send("x"); } catch {}`),
    strike: takeNothing,
    expected: "dropped",
  },
  {
    name: "an error thrown at every message",
    source: accept(`server.addEventListener("message", () => { throw new Error("thrown at a message"); });`),
    strike: async (url) => {
      const socket = await connectTo(url);
      for (let turn = 0; turn < 100; turn += 1) socket.send("x");
      await delay(200);
      return drop([socket]);
    },
    expected: "dropped",
  },
  {
    name: "messages to a worker in an endless loop",
    source: accept(`server.addEventListener("message", () => { const end = Date.now() + 300; while (Date.now() < end); });`),
    strike: async (url) => {
      const socket = await connectTo(url);
      for (let turn = 0; turn < 3; turn += 1) socket.send("x".repeat(100_000));
      await delay(100);
      return drop([socket]);
    },
    expected: "dropped",
  },
  {
    name: "200 WebSockets that disconnect together",
    source: accept(""),
    strike: async (url) => {
      const sockets: WebSocket[] = [];
      for (let index = 0; index < 200; index += 1) sockets.push(await connectTo(url));
      return drop(sockets);
    },
    expected: "dropped",
  },
];

describe("a worker or client that misuses WebSockets", { timeout: 90_000 }, () => {
  test.each(offenders)("does not affect other workers (misuse: $name)", (offender) => harness.check({ manifest, ...offender }));
});
