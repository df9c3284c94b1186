import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PluginServer } from "../../support/plugin-server.js";
import { createSender } from "../../support/send.js";
import { WebSocketClient } from "../../support/web-socket-client.js";
import { ourKey } from "../../support/worker-server.js";

const app = `export default { async fetch(request) {
  const { pathname, search } = new URL(request.url);
  if (pathname === "/ok") return new Response("ok");
  const body = request.method === "GET" || request.method === "HEAD" ? "" : await request.text();
  return Response.json({ method: request.method, path: pathname + search, headers: Object.fromEntries(request.headers), length: body.length, body: body.slice(0, 100) });
} };`;

interface Seen {
  method: string;
  path: string;
  headers: Record<string, string>;
  length: number;
  body: string;
}

let server: PluginServer;
beforeAll(async () => {
  server = await PluginServer.start();
  await server.workers.add("app", { files: { "index.js": app } });
  await server.workers.add("other", { files: { "index.js": app }, manifest: { publicRoutes: { GET: ["/open/**"], POST: ["/hook"] } } });
  await server.workers.add("sockets", { fixture: "sockets", manifest: { publicRoutes: { GET: ["/**"] } } });
});
afterAll(() => server.stop());

const seen = async (target: string, init?: RequestInit): Promise<Seen> => (await (await server.fetch(target, init)).json()) as Seen;

describe("the request pipeline with a plugin without request hooks", () => {
  test("passes requests to the workers unchanged", async () => {
    server.use({ onShutdown: () => undefined });
    expect(await server.text("/app/ok")).toBe("ok");
    expect(await server.text("/api/x")).toBe("api /api/x");
  });
});

describe("an onRequest hook", () => {
  test("leaves the request unchanged when it returns undefined, also in a promise", async () => {
    server.use({ onRequest: () => undefined }, { onRequest: async () => undefined });
    const answer = await seen("/app/a?b=c", { method: "POST", body: "body", headers: { "x-own": "1" } });
    expect(answer).toMatchObject({ method: "POST", path: "/a?b=c", body: "body" });
    expect(answer.headers).toMatchObject({ "x-own": "1", "x-base": "/app", "x-forwarded-for": "127.0.0.1", "content-length": "4" });
    expect(server.complaints).toEqual([]);
  });

  test("receives the target worker and a Request without the daemon's credentials", async () => {
    const calls: unknown[] = [];
    server.use({
      onRequest(request, info) {
        calls.push([request instanceof Request, request.method, new URL(request.url).pathname, Object.fromEntries(request.headers), info]);
      },
    });
    await server.fetch("/app@latest/a", {
      headers: { "x-api-key": "not ours", cookie: "a=1; runtime_api_key=x", "x-runtime-internal": "true" },
    });
    await server.fetch("/nobody/a");
    expect(calls).toEqual([
      [
        true,
        "GET",
        "/app@latest/a",
        expect.objectContaining({ cookie: "a=1", "x-forwarded-for": "127.0.0.1" }),
        expect.objectContaining({ kind: "worker", name: "app", version: "latest", base: "/app@latest", visibility: "public" }),
      ],
      [true, "GET", "/nobody/a", expect.anything(), undefined],
    ]);
    expect(Object.keys((calls[0] as unknown[])[3] as object)).not.toEqual(expect.arrayContaining(["x-api-key"]));
    expect((calls[0] as unknown[])[3]).not.toHaveProperty("x-runtime-internal");
    expect((calls[0] as unknown[])[3]).not.toHaveProperty("x-base");
  });

  test("can read the caller's principal from a request, its clone and its replacement", async () => {
    const keys: unknown[] = [];
    const keyOf = (request: Request) => server.router.messageOf(request)?.headers["x-api-key"];
    server.use(
      {
        onRequest: (request) => (keys.push(keyOf(request), keyOf(request.clone()), keyOf(new Request(request))), new Request(request.url)),
      },
      { onRequest: (request) => void keys.push(keyOf(request), keyOf(new Request("http://x/"))) },
    );
    await server.fetch("/app/", { headers: { "x-api-key": "k" } });
    expect(keys).toEqual(["k", "k", "k", "k", undefined]);
  });

  test("ends the request and prevents later hooks when it returns a Response", async () => {
    server.use(
      { onRequest: () => new Response("no", { status: 401, headers: { "www-authenticate": "x" } }) },
      {
        onRequest: () => {
          throw new Error("never asked");
        },
      },
    );
    const response = await server.fetch("/app/ok", { method: "POST", body: "x".repeat(300_000) });
    expect([response.status, await response.text(), response.headers.get("www-authenticate")]).toEqual([401, "no", "x"]);
    expect(response.headers.get("content-length")).toBe("2");
    expect(response.headers.get("x-request-id")).toMatch(/.+/);
    expect(server.passedOn).toEqual([]);
    expect(server.complaints).toEqual([]);
  });

  test("replaces path, method, headers and body when it returns a Request", async () => {
    const paths: string[] = [];
    server.use(
      {
        onRequest: (request) =>
          new Request(new URL("/other/new?q=1", request.url), {
            method: "PUT",
            headers: { "x-new": "1", "x-api-key": "forged" },
            body: "other",
          }),
      },
      { onRequest: (request, info) => void paths.push(new URL(request.url).pathname, String(info?.name)) },
    );
    const answer = await seen("/app/old", { method: "POST", body: "body" });
    expect(answer).toMatchObject({ method: "PUT", path: "/new?q=1", body: "other" });
    expect(answer.headers).toMatchObject({ "x-new": "1", "x-base": "/other", "x-forwarded-for": "127.0.0.1" });
    expect(answer.headers).not.toHaveProperty("x-api-key");
    expect(paths).toEqual(["/other/new", "other"]);
  });

  test("can add a header while a large request body is streamed", async () => {
    server.use({ onRequest: (request) => new Request(request, { headers: [...request.headers, ["x-added", "1"]] }) });
    const answer = await seen("/app/a", { method: "POST", body: "x".repeat(2_000_000), headers: { "x-forwarded-for": "10.0.0.1" } });
    expect(answer).toMatchObject({ length: 2_000_000 });
    expect(answer.headers).toMatchObject({ "x-added": "1", "x-forwarded-for": "10.0.0.1, 127.0.0.1" });
  });

  test("can read the body of a cloned Request, and the worker receives the whole body", async () => {
    const bodies: number[] = [];
    server.use({ onRequest: async (request) => void bodies.push((await request.clone().text()).length) });
    expect(await seen("/app/a", { method: "POST", body: "x".repeat(500_000) })).toMatchObject({ length: 500_000 });
    expect(await seen("/app/a", { method: "POST", body: "small" })).toMatchObject({ length: 5, headers: { "content-length": "5" } });
    expect(bodies).toEqual([500_000, 5]);
  });

  test("can change the method, and a response to HEAD still has no body", async () => {
    server.use({ onRequest: (request) => new Request(request.url) });
    const head = await server.fetch("/app/ok", { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "2", ""]);
    server.use({ onRequest: (request) => new Request(request.url, { method: "HEAD" }) });
    const get = await server.fetch("/app/ok");
    expect([get.status, get.headers.get("content-length"), await get.text()]).toEqual([200, "0", ""]);
    server.use({ onRequest: (request) => new Request(request.url, { method: "POST", body: "x" }) });
    const send = createSender(server.url);
    for (const _ of [1, 2]) expect(await send({ method: "HEAD", path: "/app/ok" })).toMatchObject({ status: 200, text: "" });
    expect(await send({ path: "/app/ok" })).toMatchObject({ text: "ok" });
    await send.close();
  });

  test.each(["/api/keys", "/.well-known/x", "/cpanel/", "/cpanel", "/x/%2e%2e/api/keys", "/%61pi/keys", "/cpanel%2f", "//api/x"])(
    "cannot change the path to the reserved path %s",
    async (path) => {
      server.use({ onRequest: (request) => new Request(new URL(request.url).origin + path) });
      expect(await server.refusal("/app/")).toMatchObject({ status: 404, code: "NOT_FOUND" });
      expect(server.passedOn).toEqual([]);
    },
  );

  test("receives the normalized URL when the request path contains dot segments", async () => {
    const urls: string[] = [];
    server.use({ onRequest: (request, info) => void urls.push(`${new URL(request.url).pathname} ${info?.name}`) });
    const send = createSender(server.url);
    expect(JSON.parse((await send({ path: "/app/../other/secret" })).text)).toMatchObject({
      path: "/secret",
      headers: { "x-base": "/other" },
    });
    expect(JSON.parse((await send({ path: "/app/%2e%2e/other/./secret?'" })).text)).toMatchObject({ path: "/secret?%27" });
    expect((await send({ path: "/app/../api/keys" })).status).toBe(404);
    expect((await send({ path: "/app\\..\\.well-known/x" })).status).toBe(404);
    expect(urls).toEqual(["/other/secret other", "/other/secret other"]);
    await send.close();
  });

  describe("that fails", () => {
    const failures: [string, () => unknown][] = [
      [
        "throws",
        () => {
          throw new Error("boom");
        },
      ],
      ["rejects", () => Promise.reject(new Error("boom"))],
      ["returns a string", () => "x"],
      ["returns null", () => null],
      ["resolves with a number", async () => 1],
      ["returns Response.error()", () => Response.error()],
    ];
    test.each(failures)("causes a 503 when the hook %s, and the next request succeeds", async (_what, onRequest) => {
      server.use({ onRequest: onRequest as never });
      expect(await server.refusal("/app/ok")).toEqual({ status: 503, code: "PLUGIN_HOOK_FAILED", retryAfter: "5" });
      expect(server.complaints).toMatchObject([{ plugin: "plugin-1", hook: "onRequest" }]);
      expect(server.passedOn).toEqual([]);
      server.use({ onRequest: onRequest as never, onRequestFailOpen: true });
      expect(await server.text("/app/ok")).toBe("ok");
      expect(server.complaints).toHaveLength(1);
    });

    test("causes PLUGIN_HOOK_FAILED if it read the body, even with onRequestFailOpen", async () => {
      for (const onRequestFailOpen of [false, true]) {
        server.use({ onRequest: async (request) => void (await request.text()), onRequestFailOpen });
        expect(await server.refusal("/app/a", { method: "POST", body: "x" })).toMatchObject({ code: "PLUGIN_HOOK_FAILED" });
        expect(await server.text("/app/ok")).toBe("ok");
      }
    });

    test("causes PAYLOAD_TOO_LARGE when the hook reads a body above the size limit", async () => {
      server.use({ onRequest: async (request) => void (await request.text()) });
      expect(await server.refusal("/app/a", { method: "POST", body: Buffer.alloc(5 * 1024 * 1024) })).toMatchObject({
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
      });
    });
  });

  test("is skipped for a valid key in a header, but not for a key in a cookie", async () => {
    let asked = 0;
    server.use({ onRequest: () => void (asked += 1) });
    await server.text("/app/ok", { headers: { "x-api-key": ourKey } });
    await server.text("/app/ok", { headers: { authorization: `Bearer ${ourKey}` } });
    expect([asked, server.keyChecks]).toEqual([0, 2]);
    await server.text("/app/ok", { headers: { cookie: `runtime_api_key=${ourKey}` } });
    expect([asked, server.keyChecks]).toEqual([1, 2]);
    await server.text("/app/ok", { headers: { "x-api-key": "wrong" } });
    expect([asked, server.keyChecks]).toEqual([2, 3]);
  });

  test("is skipped for public routes of the worker", async () => {
    server.use({ onRequest: () => new Response("stop", { status: 401 }) });
    const send = createSender(server.url);
    const status = async (path: string, method = "GET") => (await send({ path, method })).status;
    expect(await status("/other/open/a/b?c")).toBe(200);
    expect(await status("/other/open/a", "HEAD")).toBe(200);
    expect(await status("/other/hook", "POST")).toBe(200);
    expect(await status("/other/hook")).toBe(401);
    expect(await status("/other/open/a", "POST")).toBe(401);
    expect(await status("/other/secret")).toBe(401);
    for (const path of [
      "/other/open/../secret",
      "/other/open/%2e%2e/secret",
      "/other/open/..%2fsecret",
      "/other/open//x",
      "/app/../other/open/a",
    ])
      expect(await status(path), path).toBe(401);
    await send.close();
  });

  test("receives the abort signal of the request when the client disconnects", async () => {
    let release: (() => void) | undefined;
    const isAborted = new Promise<void>((resolve) => {
      server.use({
        onRequest: async (request) => {
          request.signal.addEventListener("abort", () => resolve());
          await new Promise<void>((go) => (release = go));
        },
      });
    });
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /app/ok HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => release).toBeDefined();
    socket.destroy();
    await isAborted;
    release?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.passedOn).toEqual([]);
  });

  test("is not called for a request with an invalid Host header", async () => {
    server.use({ onRequest: () => undefined, onRequestFailOpen: true });
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /app/ok HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n");
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, "close");
    expect(text).toContain("INVALID_REQUEST");
    expect(server.complaints).toEqual([]);
  });
});

describe("a WebSocket handshake", () => {
  test("reaches the worker unchanged, or with the headers that an onRequest hook adds", async () => {
    const seenUpgrade: unknown[] = [];
    server.use({ onRequest: (request) => void seenUpgrade.push(request.headers.get("upgrade")), onResponse: () => undefined });
    const client = await WebSocketClient.open(`${server.url}/sockets/echo`);
    expect(await client.ask("hello")).toBe("hello");
    await client.close();
    expect(seenUpgrade).toEqual(["websocket"]);
    server.use({ onRequest: async (request) => new Request(request, { headers: [...request.headers, ["x-added", "1"]] }) });
    const second = await WebSocketClient.open(`${server.url}/sockets/echo`);
    expect(await second.ask("hello")).toBe("hello");
    await second.close();
  });

  test("can be rejected by an onRequest hook at a public GET route", async () => {
    server.use({ onRequest: () => new Response("no", { status: 401 }) });
    expect(await WebSocketClient.refusal(`${server.url}/sockets/echo`)).toMatchObject({ status: 401 });
    expect((await server.fetch("/sockets/seen")).status).toBe(200);
  });
});
