import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { copyPackages } from "../../support/copy-packages.js";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

/** Adds a program with unchanged packages from npm. */
async function addProgram(name: string, { packages, source }: { packages: readonly string[]; source: string }): Promise<void> {
  const version = await server.add(name, { files: { "index.mjs": source } });
  await copyPackages(packages, version.folder);
}

async function loggedTexts(name: string): Promise<string[]> {
  const { entries } = await server.logs.read([name], { limit: 100 });
  return entries.map(({ text }) => text);
}

async function open(target: string, protocols: string[] = []): Promise<{ socket: WebSocket; next: () => Promise<unknown> }> {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}${target}`, protocols);
  const received: unknown[] = [];
  socket.on("message", (data: Buffer, isBinary) => received.push(isBinary ? data : data.toString()));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const next = async (): Promise<unknown> => {
    await expect.poll(() => received.length).toBeGreaterThan(0);
    return received.shift();
  };
  return { socket, next };
}

describe("a worker that uses the npm package ws", () => {
  beforeAll(() =>
    addProgram("sockets", {
      packages: ["ws"],
      source: `
        import http from "node:http";
        import { WebSocketServer } from "ws";
        const server = http.createServer((req, res) => res.end("page"));
        const sockets = new WebSocketServer({ server, path: "/chat", handleProtocols: (offered) => [...offered][0] });
        sockets.on("connection", (socket, request) => {
          socket.send("hello " + request.headers["x-base"]);
          socket.on("message", (data, isBinary) => {
            if (!isBinary && String(data) === "close") socket.close(4001, "on request");
            else if (!isBinary && String(data) === "terminate") socket.terminate();
            else if (!isBinary && String(data) === "ping") { socket.once("pong", (bytes) => socket.send("pong " + bytes)); socket.ping("p"); }
            else socket.send(data, { binary: isBinary });
          });
          socket.on("close", (code, reason) => console.log("closed", code, String(reason)));
        });
        server.listen(3000);`,
    }),
  );

  test("exchanges text and binary messages of different sizes with a client", async () => {
    expect(await server.text("/sockets/")).toBe("page");
    const { socket, next } = await open("/sockets/chat", ["v1", "v2"]);
    expect([await next(), socket.protocol]).toEqual(["hello /sockets", "v1"]);
    for (const text of ["short", "x".repeat(200), "y".repeat(300_000)]) {
      socket.send(text);
      expect(await next()).toBe(text);
    }
    socket.send(Buffer.from([0, 1, 255]));
    expect(await next()).toEqual(Buffer.from([0, 1, 255]));
    socket.send("ping");
    expect(await next()).toBe("pong p");
    socket.close();
  });

  test("closes a WebSocket with the close code that the worker or the client sends", async () => {
    const closedBy = async (message: string): Promise<unknown[]> => {
      const { socket, next } = await open("/sockets/chat");
      await next();
      const closed = new Promise<unknown[]>((resolve) => socket.once("close", (code, reason) => resolve([code, reason.toString()])));
      socket.send(message);
      return closed;
    };
    expect(await closedBy("close")).toEqual([4001, "on request"]);
    expect((await closedBy("terminate"))[0]).not.toBe(1000);
    const { socket, next } = await open("/sockets/chat");
    await next();
    socket.close(4002, "by the client");
    await expect.poll(() => loggedTexts("sockets")).toContain("closed 4002 by the client");
  });

  test("rejects a WebSocket handshake for another path", async () => {
    await expect(open("/sockets/other")).rejects.toThrow("Unexpected server response: 400");
  });
});

describe("a worker that uses the npm package socket.io", () => {
  beforeAll(() =>
    addProgram("io", {
      packages: ["socket.io"],
      source: `
        import { createServer } from "node:http";
        import { Server } from "socket.io";
        const server = createServer();
        const io = new Server(server, { cors: { origin: "*" } });
        io.on("connection", (socket) => {
          socket.on("add", (a, b, reply) => reply(a + b));
          socket.on("bytes", (bytes, reply) => reply(bytes.length));
          socket.emit("welcome", socket.conn.transport.name);
        });
        server.listen(process.env.PORT);`,
    }),
  );

  test.each(["websocket", "polling"])("exchanges events with a socket.io client (transport: %s)", async (transport) => {
    const socket = io(server.url, { path: "/io/socket.io/", transports: [transport] });
    try {
      expect(await new Promise((resolve, reject) => socket.once("welcome", resolve).once("connect_error", reject))).toBe(transport);
      expect(await socket.emitWithAck("add", 2, 3)).toBe(5);
      expect(await socket.emitWithAck("bytes", Buffer.alloc(100_000))).toBe(100_000);
    } finally {
      socket.close();
    }
  });
});
