import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

const source = `
import http from "node:http";
const routes = {
  "/": (req, res) => res.end("hello " + req.headers["x-base"]),
  "/echo": (req, res) => { res.setHeader("x-length", String(req.headers["content-length"])); req.pipe(res); },
  "/empty": (req, res) => res.end(),
  "/204": (req, res) => { res.statusCode = 204; res.end(); },
  "/304": (req, res) => { res.writeHead(304, { etag: '"1"' }); res.end(); },
  "/early": (req, res) => { res.writeEarlyHints({ link: "</a.css>; rel=preload" }); res.writeProcessing(); res.end("late"); },
  "/trailers": (req, res) => { res.setHeader("trailer", "x-sum"); res.write("a"); res.addTrailers({ "x-sum": "1" }); res.end("b"); },
  "/cookies": (req, res) => { res.setHeader("set-cookie", ["a=1", "b=2"]); res.writeHead(201, { "X-Kept": "caf\\u00e9" }); res.end("text"); },
  "/length": (req, res) => { res.setHeader("content-length", 5); res.end(req.method === "HEAD" ? undefined : "12345"); },
  "/dated": (req, res) => { res.setHeader("date", "Thu, 01 Jan 2026 00:00:00 GMT"); res.end(); },
  "/throws": () => { throw new Error("thrown by the handler"); },
  "/destroys": (req, res) => res.destroy(),
  "/close": (req, res) => { res.setHeader("connection", "close"); res.end("closed"); },
  "/socket": (req, res) => { req.setTimeout(0); res.setTimeout(0); req.socket.setNoDelay(true); res.end(JSON.stringify([req.socket.remoteAddress, req.httpVersion, req.url, req.complete])); },
  "/address": (req, res) => res.end(JSON.stringify([server.address(), server.listening, process.env.PORT, events])),
};
const events = [];
const server = http.createServer((req, res) => (routes[req.url.split("?")[0]] ?? ((req, res) => { res.statusCode = 404; res.end("none"); }))(req, res));
server.on("listening", () => events.push("listening"));
server.listen(8080, "0.0.0.0", () => events.push("callback"));
`;

describe("a worker that listens with node:http", () => {
  beforeAll(() => server.add("raw", { files: { "index.mjs": source } }));

  test("serves requests at the worker's path", async () => {
    for (let count = 0; count < 3; count += 1) expect(await server.text("/raw/")).toBe("hello /raw");
  });

  test.each([
    ["without a body", "/raw/empty", 200, ""],
    ["with status 204", "/raw/204", 204, ""],
    ["with status 304", "/raw/304", 304, ""],
    ["after interim responses", "/raw/early", 200, "late"],
    ["with trailers, which are dropped", "/raw/trailers", 200, "ab"],
    ["that closes the connection", "/raw/close", 200, "closed"],
    ["with status 404", "/raw/none", 404, "none"],
  ])("sends a complete response of each kind (response %s)", async (_, target, status, body) => {
    const response = await server.fetch(target);
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(await server.text("/raw/")).toBe("hello /raw");
  });

  test("keeps status, repeated cookies and Latin-1 headers", async () => {
    const response = await server.fetch("/raw/cookies");
    expect([response.status, response.headers.getSetCookie(), response.headers.get("x-kept")]).toEqual([201, ["a=1", "b=2"], "café"]);
  });

  test("sends one Date header, and the app can set its value", async () => {
    expect(Math.abs(Date.parse((await server.fetch("/raw/")).headers.get("date") ?? "") - Date.now())).toBeLessThan(60_000);
    expect((await server.fetch("/raw/dated")).headers.get("date")).toBe("Thu, 01 Jan 2026 00:00:00 GMT");
  });

  test("sends the Content-Length in a response to HEAD", async () => {
    const response = await server.fetch("/raw/length", { method: "HEAD" });
    expect(response.headers.get("content-length")).toBe("5");
    expect(await server.text("/raw/length")).toBe("12345");
  });

  test.each([
    ["small", 10],
    ["large", 3_000_000],
  ])("receives and returns the same request body (%s body)", async (_, size) => {
    const response = await server.fetch("/raw/echo", { method: "POST", body: "x".repeat(size) });
    expect(response.headers.get("x-length")).toBe(String(size));
    expect((await response.text()).length).toBe(size);
  });

  test("receives and returns 12 large request bodies, three at a time", async () => {
    for (let count = 0; count < 4; count += 1) {
      const bodies = Array.from({ length: 3 }, () => server.text("/raw/echo", { method: "POST", body: "x".repeat(3_000_000) }));
      expect((await Promise.all(bodies)).map((body) => body.length)).toEqual([3_000_000, 3_000_000, 3_000_000]);
    }
  });

  test("receives and returns a request body without Content-Length", async () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (let count = 0; count < 20; count += 1) {
          controller.enqueue(new Uint8Array(10_000));
          await new Promise(setImmediate);
        }
        controller.close();
      },
    });
    const response = await server.fetch("/raw/echo", { method: "POST", body, duplex: "half" });
    expect((await response.arrayBuffer()).byteLength).toBe(200_000);
  });

  test("provides the usual socket properties on request objects", async () => {
    expect(await (await server.fetch("/raw/socket?a=1")).json()).toEqual(["127.0.0.1", "1.1", "/socket?a=1", expect.any(Boolean)]);
  });

  test("reports the port that the app passed to listen(), and sets PORT to 3000", async () => {
    expect(await (await server.fetch("/raw/address")).json()).toEqual([
      { address: "0.0.0.0", family: "IPv4", port: 8080 },
      true,
      "3000",
      ["listening", "callback"],
    ]);
  });

  test("causes a 502 when its handler throws or closes the connection", async () => {
    expect(await server.refusal("/raw/throws")).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
    expect(await server.refusal("/raw/destroys")).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
    expect(await server.text("/raw/")).toBe("hello /raw");
  });

  test("serves the next request after its handler throws", async () => {
    await server.add("throws", {
      files: {
        "index.mjs": `import http from "node:http"; let count = 0;
        http.createServer((req, res) => { if (++count === 1) throw new Error("first"); res.end("request " + count); }).listen(3000);`,
      },
    });
    expect(await server.refusal("/throws/")).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
    expect(await server.text("/throws/")).toBe("request 2");
  });

  test("receives the same errors from listen() and close() as in Node.js", async () => {
    await server.add("listens-twice", {
      files: {
        "index.mjs": `import http from "node:http"; const codes = [];
          const server = http.createServer((req, res) => res.end(codes.join())).listen(3000);
          http.createServer().on("error", ({ code }) => codes.push(code)).listen(3000);
          for (const port of [undefined, 70000]) try { (port ? http.createServer() : server).listen(port); } catch ({ code }) { codes.push(code); }
          const closed = http.createServer().listen(4000, () => closed.close((error) => { codes.push(String(error)); closed.close(({ code }) => codes.push(code)); }));`,
      },
    });
    const codes = ["ERR_SERVER_ALREADY_LISTEN", "ERR_SOCKET_BAD_PORT", "EADDRINUSE", "undefined", "ERR_SERVER_NOT_RUNNING"];
    await expect.poll(() => server.text("/listens-twice/")).toBe(codes.join());
  });
});
