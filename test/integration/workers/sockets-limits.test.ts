import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exchange } from "../../support/exchange.js";
import { WebSocketClient } from "../../support/web-socket-client.js";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("app", { fixture: "sockets" });
});
beforeEach(() => server.text("/app/forget"));
afterAll(() => server.stop());

const app = (path: string) => `${server.url}/app${path}`;
const handshake = (path: string, lines = "") =>
  `GET /app${path} HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${lines}\r\n`;

describe("the close code of a worker's WebSocket", () => {
  test("is 1009 after a message above the size limit", async () => {
    const client = await WebSocketClient.open(app("/echo"));
    client.send(Buffer.alloc(1024 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
    await expect.poll(async () => server.text("/app/seen")).toContain("close 1009");
  });

  test("is 1011 when the worker process exits", async () => {
    await server.add("crash", { fixture: "sockets" });
    const client = await WebSocketClient.open(`${server.url}/crash/crash`);
    client.send("go");
    expect((await client.closed).code).toBe(1011);
  });

  test("is 1012 after the worker is replaced, and the process of the old version exits", async () => {
    const version = await server.add("replaced", { fixture: "sockets" });
    const client = await WebSocketClient.open(`${server.url}/replaced/echo`);
    await server.add("replaced", { fixture: "sockets" });
    const retired = server.engine.retire(version.folder, undefined);
    expect(await client.ask("still served")).toBe("still served");
    expect((await client.closed).code).toBe(1012);
    await retired;
  });

  test("is 1013 when the client reads too slowly for the worker", async () => {
    const client = await WebSocketClient.open(app("/flood?bytes=20000000"));
    expect((await client.closed).code).toBe(1013);
  });
});

test("invalid frames of a client close only the WebSocket of this client", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(handshake("/echo"));
  await once(socket, "data");
  socket.end(Buffer.alloc(1000, 255));
  socket.resume();
  await once(socket, "close");
  await expect.poll(() => server.text("/app/seen")).toContain("close 1006");
  expect(await server.text("/app/")).toBe("ok");
});

describe("a request with an Upgrade header", () => {
  test.each([
    ["h2c", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"],
    ["an unknown protocol", "Connection: upgrade\r\nUpgrade: foo/2\r\n"],
  ])("is served as a normal request for another protocol (protocol: %s)", async (_, lines) => {
    const answer = await exchange(server.url, `POST /app/ HTTP/1.1\r\nHost: a\r\n${lines}Content-Length: 5\r\n\r\nhello`);
    expect(answer).toMatchObject({ status: 200, text: "ok" });
  });

  test.each([
    ["with a request body", handshake("/echo", "Content-Length: 5\r\n") + "hello", 400],
    ["without Sec-WebSocket-Key", handshake("/echo").replace("Sec-WebSocket-Key", "X-Key"), 400],
    ["to another version of the protocol", handshake("/echo").replace("Version: 13", "Version: 8"), 426],
  ])("is rejected with an error when it is invalid (request %s)", async (_, bytes, status) => {
    const answer = await exchange(server.url, bytes);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain('{"error":{"code":');
  });
});

test("a worker detects the close of 200 WebSockets that clients close or terminate", async () => {
  const clients = await Promise.all(Array.from({ length: 200 }, () => WebSocketClient.open(app("/chat"))));
  for (const [index, client] of clients.entries()) {
    if (index % 2 === 0) client.webSocket.terminate();
    else void client.close();
  }
  await expect.poll(() => server.text("/app/peers")).toBe("0");
});

test("a worker can use the unchanged function upgradeWebSocket of Hono", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { Hono } from "hono";
        import { upgradeWebSocket } from "hono/cloudflare-workers";
        const app = new Hono();
        app.get("/ws", upgradeWebSocket(() => ({ onMessage: (event, ws) => ws.send("hono: " + event.data), onClose: () => console.log("closed") })));
        export default app;`,
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  await server.add("hono", { files: { "index.mjs": outputFiles[0]?.text ?? "" } });
  const client = await WebSocketClient.open(`${server.url}/hono/ws`);
  expect(await client.ask("hello")).toBe("hono: hello");
  expect((await client.close(1000)).code).toBe(1000);
});
