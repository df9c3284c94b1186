import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { openConnection } from "../../support/exchange.js";
import { openHttpServer } from "../../support/open-http-server.js";

const stalledMs = 300;

const open = (respond: Parameters<typeof openHttpServer>[0]) => openHttpServer(respond, { stalledClientTimeoutMs: stalledMs });

const get = "GET /app/ HTTP/1.1\r\nHost: a\r\n\r\n";
const postHead = (length: number) => `POST /app/ HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe("a client that stops sending or reading", () => {
  test("receives a 408 response when it stops in the middle of a request body", async () => {
    const url = await open((request, response) => request.resume().on("end", () => response.end("all")));
    const { socket, nextAnswer, closed } = await openConnection(url);
    socket.write(`${postHead(100)}half`);

    expect((await nextAnswer()).status).toBe(408);
    expect(await closed()).toBe("");
  });

  test("is disconnected when it stops reading a response", async () => {
    const url = await open((_, response) => {
      response.writeHead(200);
      const write = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      };
      response.on("drain", write);
      write();
    });
    const { socket } = await openConnection(url);
    const closed = once(socket, "close");
    socket.write(get);
    await once(socket, "data");
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 4 * stalledMs));

    socket.resume();

    await closed;
  });

  test.each([
    ["before its first byte", ""],
    ["within its headers", "GET /app/ HTTP/1.1\r\n"],
  ])("is disconnected when its request stays incomplete (the client stops %s)", async (_, bytes) => {
    const url = await open((_request, response) => response.end());
    const { socket, closed } = await openConnection(url);
    socket.write(bytes);

    expect(await closed()).toBe("");
  });

  test("stays connected after an upgrade to WebSocket", async () => {
    const url = await open((_request, _response, connection) => {
      connection?.takeHead();
      connection?.socket.setTimeout(0).write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
      setTimeout(() => connection?.socket.end("still here"), 3 * stalledMs);
    });
    const upgrade = http.get(url, { path: "/app/", headers: { connection: "Upgrade", upgrade: "websocket" } });
    const [, socket] = (await once(upgrade, "upgrade")) as [IncomingMessage, Socket];

    expect(await text(socket)).toBe("still here");
  });

  test("stays connected while the worker computes the response", async () => {
    const url = await open((_, response) => void setTimeout(() => response.end("thought"), 3 * stalledMs));
    const { socket, nextAnswer } = await openConnection(url);
    onTestFinished(() => void socket.destroy());
    socket.write(get);

    expect(await nextAnswer()).toMatchObject({ status: 200, text: "thought" });
  });

  test("stays connected while the worker does not read the request body", async () => {
    const url = await open((request, response) => {
      request.pause();
      setTimeout(() => request.resume().on("end", () => response.end("read")), 3 * stalledMs);
    });
    const { socket, nextAnswer } = await openConnection(url);
    onTestFinished(() => void socket.destroy());
    socket.write(postHead(4) + "half");

    expect(await nextAnswer()).toMatchObject({ status: 200, text: "read" });
  });
});

test("the daemon can send a response while the client still sends the request body", async () => {
  const url = await open((_, response) => void response.writeHead(413, { "content-length": 0 }).end());
  for (let round = 0; round < 10; round += 1) {
    const request = http.request(url, { path: "/app/", method: "POST", agent: false });
    request.end(Buffer.alloc(20 * 1024 * 1024));
    const [response] = (await once(request, "response")) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    request.on("error", () => undefined).destroy();
  }
});

describe("invalid bytes after a complete HTTP request", () => {
  test.each([
    ["garbage", "", "garbage\r\n\r\n"],
    ["a request after Connection: close", "Connection: close\r\n", get],
  ])("do not change the response to the request (bytes: %s)", async (_, header, bytes) => {
    const url = await open((_request, response) => void setImmediate(() => response.end("own")));
    const { socket, nextAnswer, closed } = await openConnection(url);
    socket.write(`GET /app/ HTTP/1.1\r\nHost: a\r\n${header}\r\n${bytes}`);

    expect(await nextAnswer()).toMatchObject({ status: 200, text: "own" });
    expect(await closed()).toBe("");
  });
});

test("the daemon sends no 100 Continue response to an HTTP/1.0 client", async () => {
  const url = await open((request, response) => request.resume().on("end", () => response.end("done")));
  const { socket, nextAnswer } = await openConnection(url);
  socket.write("POST /app/ HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}");

  expect((await nextAnswer()).status).toBe(200);
});
