import { once } from "node:events";
import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("streams", { files: { "index.mjs": source }, manifest: { maxBodySize: "100mb" } });
});
afterAll(() => server.stop());

const source = `
import http from "node:http";
import { setImmediate as turn } from "node:timers/promises";
const seen = { written: 0, read: 0, events: [] };
let release;
const routes = {
  "/seen": (req, res) => res.end(JSON.stringify(seen)),
  "/release": (req, res) => { release(); res.end(); },
  "/parts": async (req, res) => { res.write("first"); await new Promise((resolve) => (release = resolve)); res.end("last"); },
  "/flood": async (req, res) => {
    seen.written = 0;
    res.on("close", () => seen.events.push("flood closed " + res.writableFinished));
    const chunk = Buffer.alloc(64 * 1024);
    while (!res.destroyed && seen.written < 200e6) {
      seen.written += chunk.length;
      if (!res.write(chunk)) await Promise.race([new Promise((resolve) => res.once("drain", resolve)), new Promise((resolve) => res.once("close", resolve))]);
    }
    res.end();
  },
  "/slow": (req, res) => {
    seen.read = 0;
    req.on("aborted", () => seen.events.push("upload aborted"));
    release = () => { req.on("data", (chunk) => { seen.read += chunk.length; }); req.on("end", () => res.end(String(seen.read))); };
  },
  "/unread": (req, res) => res.end("unread"),
  "/waits": (req, res) => { req.on("close", () => seen.events.push("request closed")); res.on("close", () => seen.events.push("response closed")); },
  "/fails": async (req, res) => { res.write("begun"); await turn(); res.destroy(new Error("midway")); },
  "/short": async (req, res) => { res.setHeader("content-length", 100); res.write("short"); await turn(); res.destroy(); },
  "/file": async (req, res) => { res.setHeader("content-length", 10); res.write("12345"); await turn(); res.end("67890"); },
  "/events": (req, res) => { res.writeHead(200, { "content-type": "text/event-stream" }); res.flushHeaders(); setTimeout(() => res.write("data: 1\\n\\n"), 50); },
};
http.createServer((req, res) => routes[req.url](req, res)).listen(3000);
`;

interface Seen {
  readonly written: number;
  readonly read: number;
  readonly events: string[];
}
const seen = async (): Promise<Seen> => (await (await server.fetch("/streams/seen")).json()) as Seen;

/** Opens a request of node:http, whose body and response the test reads at its own pace. */
function open(target: string, options: http.RequestOptions = {}): http.ClientRequest {
  const request = http.request(`${server.url}${target}`, options);
  request.on("error", () => undefined);
  return request;
}

describe("a worker that listens with node:http", () => {
  test("sends response chunks while the app is still writing", async () => {
    const response = await server.fetch("/streams/parts");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe("first");
    await server.text("/streams/release");
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe("last");
    expect((await reader.read()).done).toBe(true);
  });

  test("sends the response headers before the app writes the body", async () => {
    const request = open("/streams/events");
    request.end();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect(response.headers["content-type"]).toBe("text/event-stream");
    const [chunk] = (await once(response, "data")) as [Buffer];
    expect(chunk.toString()).toBe("data: 1\n\n");
    request.destroy();
  });

  test("pauses while the client does not read, and stops when the client disconnects", async () => {
    const request = open("/streams/flood");
    request.end();
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let before = -1;
    await expect
      .poll(
        async () => {
          const { written } = await seen();
          const isStill = written > 0 && written === before;
          before = written;
          return isStill;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(before).toBeLessThan(60e6);
    response.destroy();
    await expect.poll(async () => (await seen()).events).toContain("flood closed false");
  });

  test("slows down the client's upload when the app does not read the body", async () => {
    const size = 30_000_000;
    const request = open("/streams/slow", { method: "POST", headers: { "content-length": size } });
    let sent = 0;
    const chunk = Buffer.alloc(100_000);
    const responded = once(request, "response") as Promise<[http.IncomingMessage]>;
    while (sent < size) {
      sent += chunk.length;
      if (request.write(chunk)) continue;
      const drained = once(request, "drain");
      const isStill = await Promise.race([drained.then(() => false), new Promise<true>((resolve) => setTimeout(resolve, 1000, true))]);
      if (!isStill) continue;
      expect(sent).toBeLessThan(size);
      await server.text("/streams/release");
      await drained;
    }
    request.end();
    const [response] = await responded;
    expect(((await response.toArray()) as Buffer[]).join("")).toBe(String(size));
  });

  test("can send a response before it reads the request body", async () => {
    const response = await server.fetch("/streams/unread", { method: "POST", body: Buffer.alloc(2_000_000) });
    expect(await response.text()).toBe("unread");
    expect(await server.text("/streams/unread")).toBe("unread");
  });

  test("receives close events when the client disconnects before the response", async () => {
    const request = open("/streams/waits");
    request.end();
    await server.text("/streams/seen");
    await new Promise((resolve) => setTimeout(resolve, 100));
    request.destroy();
    await expect.poll(async () => (await seen()).events).toEqual(expect.arrayContaining(["request closed", "response closed"]));
  });

  test("receives an aborted event when the client disconnects during the request body", async () => {
    const request = open("/streams/slow", { method: "POST", headers: { "content-length": 1_000_000 } });
    request.write(Buffer.alloc(50_000));
    await new Promise((resolve) => setTimeout(resolve, 200));
    request.destroy();
    await expect.poll(async () => (await seen()).events).toContain("upload aborted");
  });

  test.each(["fails", "short"])("closes the client's connection when the app ends a response early (path /%s)", async (route) => {
    await expect(server.text(`/streams/${route}`)).rejects.toThrow(/^(?:terminated|fetch failed)$/);
    expect(await server.text("/streams/unread")).toBe("unread");
  });

  test("sends the Content-Length of a streamed response", async () => {
    const response = await server.fetch("/streams/file");
    expect([response.headers.get("content-length"), await response.text()]).toEqual(["10", "1234567890"]);
  });

  test("receives a request body that the client sends after a 100 Continue response", async () => {
    const request = open("/streams/unread", { method: "POST", headers: { expect: "100-continue", "content-length": 20_000 } });
    request.flushHeaders();
    await once(request, "continue");
    request.end(Buffer.alloc(20_000));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
  });
});
