import { createHash } from "node:crypto";
import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectGarbage } from "../../support/collect-garbage.js";
import { PluginServer } from "../../support/plugin-server.js";
import { createSender } from "../../support/send.js";

const app = `export default { fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname === "/stream") { let left = 1600; return new Response(new ReadableStream({ pull(c) { if (left-- === 0) c.close(); else c.enqueue(new Uint8Array(65536).fill(left)); } })); }
  if (pathname === "/broken") { let left = 2; return new Response(new ReadableStream({ pull(c) { if (left-- === 0) c.error(new Error("boom")); else c.enqueue(new Uint8Array(65536)); } })); }
  if (pathname === "/events") return new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode("data: 1\\n\\n")); } }), { headers: { "content-type": "text/event-stream" } });
  if (pathname === "/endless") return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)); }, cancel() { console.log("cancelled"); } }));
  if (pathname === "/none") return new Response(null, { status: 204 });
  if (pathname === "/throw") throw new Error("x");
  if (pathname === "/cookies") return new Response("ok", { headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] });
  return new Response("ok", { headers: { "X-Own": "1", "set-cookie": "a=1" } });
} };`;
const page = "<p>".padEnd(100_000, "x");

let server: PluginServer;
let send: ReturnType<typeof createSender>;
beforeAll(async () => {
  server = await PluginServer.start();
  await server.workers.add("app", { files: { "index.js": app } });
  await server.workers.add("site", { files: { "index.html": page, "small.txt": "small" } });
  send = createSender(server.url);
});
afterAll(async () => {
  await send.close();
  await server.stop();
});

const withHeader = (response: Response) =>
  new Response(response.body, { status: response.status, headers: [...response.headers, ["x-added", "1"]] });

const tidy = ({ status, text, headers: { date: _date, "x-request-id": _id, ...headers } }: Awaited<ReturnType<typeof send>>) => ({
  status,
  text,
  headers,
});

/** Hooks that leave the response unchanged. */
const silent: [string, (response: Response) => unknown][] = [
  ["returns undefined", () => undefined],
  ["resolves with undefined", async () => undefined],
  ["returns the same response", (response) => response],
  [
    "throws",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
  ["returns a number", () => 7],
  ["returns Response.error()", () => Response.error()],
];

describe("an onResponse hook", () => {
  test.each(silent)("leaves the response unchanged when the hook %s", async (_what, onResponse) => {
    const paths = ["/app/", "/app/cookies", "/app/none", "/app/throw", "/app", "/site/", "/site/small.txt", "/nobody/", "/site/none"];
    for (const method of ["GET", "HEAD"])
      for (const path of paths) {
        server.use();
        const plain = await send({ method, path });
        server.use({ onResponse: onResponse as never });
        const hooked = await send({ method, path });
        expect(tidy(hooked), `${method} ${path}`).toEqual(tidy(plain));
        expect(hooked.headers["date"]).toBeDefined();
      }
  });

  test("receives the status, the headers, the worker and the request", async () => {
    const seen: unknown[] = [];
    server.use({
      onResponse: (response, info, request) =>
        void seen.push(
          response.status,
          response.headers.get("x-own"),
          response.headers.getSetCookie(),
          info?.name,
          new URL(request.url).pathname,
        ),
    });
    await send({ path: "/app/" });
    await send({ path: "/nobody/" });
    expect(seen).toEqual([200, "1", ["a=1"], "app", "/app/", 404, null, [], undefined, "/nobody/"]);
  });

  test("can change headers in place or return a new Response; Content-Length is correct", async () => {
    for (const onResponse of [
      withHeader,
      (response: Response) => response.headers.set("x-added", "1"),
      async (response: Response) => (void (await response.clone().text()), response.headers.set("x-added", "1")),
    ]) {
      server.use({ onResponse });
      expect(await send({ path: "/app/" })).toMatchObject({
        text: "ok",
        headers: { "x-added": "1", "content-length": "2", "set-cookie": "a=1" },
      });
      expect(await send({ path: "/app/cookies" })).toMatchObject({ text: "ok", headers: { "x-added": "1", "set-cookie": ["a=1", "b=2"] } });
      expect(await send({ path: "/site/", headers: { range: "bytes=1-3" } })).toMatchObject({
        status: 206,
        text: "p>x",
        headers: { "x-added": "1", "content-range": "bytes 1-3/100000", "content-length": "3" },
      });
      const whole = await send({ path: "/site/" });
      expect([whole.text === page, whole.headers["content-length"]]).toEqual([true, "100000"]);
      expect(await send({ path: "/site/", headers: { "if-none-match": String(whole.headers["etag"]) } })).toMatchObject({
        status: 304,
        text: "",
      });
      expect(await send({ method: "HEAD", path: "/site/" })).toMatchObject({
        text: "",
        headers: { "content-length": "100000", "x-added": "1" },
      });
    }
  });

  test("can replace the response, except headers that are reserved for the daemon", async () => {
    server.use({
      onResponse: async (response) =>
        new Response(`${(await response.text()).length} bytes`, {
          status: 202,
          headers: [...response.headers, ["set-cookie", "runtime_api_key=x"], ["clear-site-data", "*"]],
        }),
    });
    const answer = await send({ path: "/app/" });
    expect(answer).toMatchObject({ status: 202, text: "2 bytes", headers: { "content-length": "7", "set-cookie": "a=1" } });
    expect(answer.headers).not.toHaveProperty("clear-site-data");
    expect((await send({ path: "/site/" })).text).toBe("100000 bytes");
    expect((await send({ path: "/app/stream" })).text).toBe("104857600 bytes");
  });

  test("runs in plugin order for responses of workers and of plugins", async () => {
    server.use(
      { onResponse: (response) => withHeader(response) },
      { onResponse: (response) => new Response(`added ${response.headers.get("x-added")}`) },
      {
        server: { routes: { "/own": () => new Response("own") } },
        onRequest: (request) => (request.url.endsWith("/stop") ? new Response("stop") : undefined),
      },
    );
    for (const path of ["/app/", "/own", "/stop"]) expect((await send({ path })).text, path).toBe("added 1");
  });

  test("causes a 503 when it reads a streamed body, and no error for a short body", async () => {
    server.use({ onResponse: async (response) => void (await response.arrayBuffer()) });
    expect((await send({ path: "/app/" })).text).toBe("ok");
    expect(await server.refusal("/app/stream")).toMatchObject({ code: "PLUGIN_HOOK_FAILED" });
    expect((await send({ path: "/app/" })).text).toBe("ok");
  });

  test("runs only if its plugin was loaded when the request arrived", async () => {
    server.use({ onRequest: async () => server.use({ onResponse: () => new Response("new") }), onResponse: () => new Response("old") });
    expect((await send({ path: "/app/" })).text).toBe("old");
    expect((await send({ path: "/app/" })).text).toBe("new");
  });

  test.each([
    ["a hook that returns undefined", async () => undefined],
    ["a hook that adds a header", withHeader],
    ["a hook that wraps the body", (response: Response) => new Response(response.body?.pipeThrough(new TransformStream()), response)],
    [
      "a hook that copies the body",
      (response: Response) => {
        const copy = response.clone();
        void copy.body?.cancel();
      },
    ],
  ])("uses constant memory while a response of 100 MB is streamed (case: %s)", async (_what, onResponse) => {
    server.use({ onResponse });
    const response = await server.fetch("/app/stream");
    const hash = createHash("sha256");
    let length = 0;
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      length += chunk.byteLength;
      if (length % (20 * 1024 * 1024) >= chunk.byteLength) continue;
      collectGarbage();
      most = Math.max(most, process.memoryUsage().arrayBuffers);
    }
    expect(length).toBe(100 * 1024 * 1024);
    expect(most - before).toBeLessThan(40 * 1024 * 1024);
    const pieces = createHash("sha256");
    for (let left = 1599; left >= 0; left -= 1) pieces.update(new Uint8Array(65_536).fill(left));
    expect(hash.digest("hex")).toBe(pieces.digest("hex"));
  });

  test.each([
    ["unchanged", async () => undefined],
    ["with other headers", withHeader],
    ["wrapped", (response: Response) => new Response(response.body?.pipeThrough(new TransformStream()), response)],
  ])("leaves truncation, flushing and cancellation of streams unchanged (response %s)", async (_what, onResponse) => {
    server.use({ onResponse });
    await expect(send({ path: "/app/broken" })).rejects.toThrow();
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /app/events HTTP/1.1\r\nHost: x\r\n\r\n");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await expect.poll(() => text).toContain("data: 1");
    socket.destroy();
    const before = server.workers.log.filter(({ msg }) => msg === "cancelled").length;
    const slow = connect(server.port, "127.0.0.1");
    slow.write("GET /app/endless HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(slow, "readable");
    slow.destroy();
    await expect.poll(() => server.workers.log.filter(({ msg }) => msg === "cancelled").length).toBe(before + 1);
  });
});
