import { connect } from "node:net";
import { once } from "node:events";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PluginServer } from "../../support/plugin-server.js";
import { createSender, expectRefusal } from "../../support/send.js";

const echo = `export default { fetch: async (request) => new Response("worker " + new URL(request.url).pathname + " " + (request.method === "GET" ? "" : await request.text()).length) };`;
const notMine = () => new Response("not mine", { status: 404 });

/** Streams these texts one by one, and fails at an error among them. */
const pieces = (...texts: (string | Error)[]) =>
  new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const text = texts.shift();
      if (text instanceof Error) controller.error(text);
      else if (text === undefined) controller.close();
      else controller.enqueue(Buffer.from(text));
    },
  });

let server: PluginServer;
let send: ReturnType<typeof createSender>;
beforeAll(async () => {
  server = await PluginServer.start();
  await server.workers.add("app", { files: { "index.js": echo } });
  await server.workers.add("p", { files: { "index.js": echo } });
  send = createSender(server.url);
});
afterAll(async () => {
  await send.close();
  await server.stop();
});

describe("the handlers in server.routes of a plugin", () => {
  test("are selected by path pattern and method; literal patterns have priority", async () => {
    server.use({
      server: {
        routes: {
          "/users/:id": (request, { id }) => new Response(`user ${id} ${request.method}`),
          "/users/me": { GET: () => new Response("me"), POST: async (request) => new Response(await request.text()) },
          "/files/*": (_request, params) => new Response(`file ${params["*"]}`),
        },
      },
    });
    expect(await server.text("/users/a%20b?c")).toBe("user a b GET");
    expect(await server.text("/users/me")).toBe("me");
    expect(await server.text("/users/me", { method: "POST", body: "x".repeat(100_000) })).toBe("x".repeat(100_000));
    expect(await server.text("/files/a/b.txt")).toBe("file a/b.txt");
    expect(await send({ method: "HEAD", path: "/users/me" })).toMatchObject({
      status: 200,
      text: "",
      headers: { "x-request-id": expect.any(String) },
    });
    const refused = await send({ method: "DELETE", path: "/users/me" });
    expectRefusal(refused, "METHOD_NOT_ALLOWED");
    expect(refused.headers["allow"]).toBe("GET, POST, HEAD");
    expect(await server.text("/app/x")).toBe("worker /x 0");
  });

  test("can respond with 404, and leave other methods of the path to another plugin", async () => {
    server.use({ server: { routes: { "/app/x": { POST: notMine } } } }, { server: { routes: { "/app/x": { GET: notMine } } } });
    expect(await server.text("/app/x")).toBe("not mine");
  });
});

describe("the server.fetch handlers of plugins", () => {
  test("run in order until one does not respond with 404; each gets the complete body", async () => {
    const asked: string[] = [];
    server.use(
      { server: { fetch: (request) => (asked.push(`1 ${new URL(request.url).pathname}`), notMine()) } },
      {
        server: {
          fetch: async (request) => (
            asked.push(await request.clone().text()),
            request.headers.has("x-mine") ? new Response("mine") : notMine()
          ),
        },
      },
    );
    expect(await server.text("/app/x", { method: "POST", body: "body" })).toBe("worker /x 4");
    expect(await server.text("/app/x", { method: "POST", body: "body", headers: { "x-mine": "1" } })).toBe("mine");
    expect(asked).toEqual(["1 /app/x", "body", "1 /app/x", "body"]);
  });

  test("send their 404 response to the client if they have read the request body", async () => {
    server.use({ server: { fetch: async (request) => (await request.text(), notMine()) } });
    const response = await server.fetch("/app/x", { method: "POST", body: "body" });
    expect([response.status, await response.text()]).toEqual([404, "not mine"]);
  });

  test.each([
    "/cpanel",
    "/cpanel/",
    "/cpanel/overview",
    "/p/x",
    "/p",
    "/x/../cpanel/",
    "/%63panel/",
    "//cpanel/",
    "/x%2f..%2fcpanel",
    "/cpanel%2Fx",
    "/%70/x",
    "/.well-known",
    "/%61pi/keys",
  ])("never receive a request for the reserved path %s", async (path) => {
    const asked: string[] = [];
    server.use(
      { server: { fetch: (request) => (asked.push(request.url), new Response("stolen")), routes: { "/*": () => new Response("stolen") } } },
      { base: "/p", routes: { fetch: notMine } },
    );
    expect((await send({ path })).text).not.toContain("stolen");
    expect(asked).toEqual([]);
    expect((await send({ path: "/elsewhere" })).text).toBe("stolen");
  });
});

describe("the base path of a plugin", () => {
  test("is removed from paths before the plugin's routes receive them", async () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      c.header("x-hono", "yes");
    });
    app.get("/", (c) => c.text(`root ${c.req.header("x-base")}`));
    app.get("/users/:id", (c) => c.json({ id: c.req.param("id"), q: c.req.query("q") }));
    app.post("/echo", async (c) => c.text(await c.req.text()));
    server.use({ base: "/p", routes: app });
    expect(await server.text("/p")).toBe("root /p");
    const response = await server.fetch("/p/users/7?q=1");
    expect([await response.json(), response.headers.get("x-hono")]).toEqual([{ id: "7", q: "1" }, "yes"]);
    expect(await server.text("/p/echo", { method: "POST", body: "hello" })).toBe("hello");
    expect(server.passedOn).toEqual([]);
    // No other plugin serves the path: Hono's 404 falls through to the worker of that name.
    expect(await server.text("/p/none")).toBe("worker /none 0");
    expect(await server.text("/px")).toContain("NOT_FOUND");
  });

  test("is served by the plugin's own worker when the plugin's routes respond with 404", async () => {
    server.use({
      name: "shop",
      base: "/p",
      hasApp: true,
      routes: { fetch: (request) => (request.url.endsWith("/own") ? new Response("own") : notMine()) },
    });
    expect(await server.text("/p/own")).toBe("own");
    expect(await server.text("/p/x?y=1")).toBe("app of shop: /p /x?y=1");
    expect(await server.text("/p")).toBe("app of shop: /p ");
  });

  test("with a public route, gives no public access to a worker of the same name", async () => {
    server.use(
      {
        base: "/p",
        publicRoutes: ["/**"],
        routes: { fetch: (request) => (request.url.endsWith("/own") ? new Response("own") : notMine()) },
      },
      { onRequest: () => new Response("guarded", { status: 401 }) },
    );
    expect(await server.text("/p/own")).toBe("own");
    expect((await server.refusal("/p/x")).code).toBe("NOT_FOUND");
    expect(server.passedOn).toEqual([]);
  });
});

describe("a request handler of a plugin", () => {
  test.each([
    [
      "throws",
      () => {
        throw new Error("secret reason");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret reason"))],
    ["returns undefined", () => undefined],
    ["returns Response.error()", () => Response.error()],
    [
      "returns a body that fails immediately",
      () => new Response(new ReadableStream({ start: (controller) => controller.error(new Error("secret reason")) })),
    ],
    [
      "returns a body of text chunks",
      () => new Response(new ReadableStream({ start: (controller) => (controller.enqueue("text" as never), controller.close()) })),
    ],
    [
      "reads its own response",
      async () => {
        const answer = new Response("x");
        await answer.text();
        return answer;
      },
    ],
  ])("causes a 500 without details and a log entry when it %s", async (_what, handler) => {
    server.use({ server: { routes: { "/x": handler as never } } });
    const answer = await send({ path: "/x" });
    expectRefusal(answer, "INTERNAL_ERROR");
    expect(answer.text).not.toContain("secret");
    expect(server.complaints).toMatchObject([{ plugin: "plugin-1", hook: "server.routes" }]);
    expect((await send({ path: "/app/x" })).text).toBe("worker /x 0");
  });

  test("can set response headers, except the headers that are reserved for the daemon", async () => {
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2; Path=/"],
      ["set-cookie", "runtime_api_key=x"],
      ["clear-site-data", "*"],
      ["connection", "close"],
      ["transfer-encoding", "chunked"],
      ["x-request-id", "forged"],
      ["x-own", "1"],
    ]);
    server.use({
      server: {
        routes: {
          "/x": () => new Response("hello", { status: 201, headers }),
          "/none": () => new Response(null, { status: 204 }),
          "/same": () => new Response(null, { status: 304, headers: { etag: '"1"' } }),
        },
      },
    });
    const answer = await send({ path: "/x", headers: { "x-request-id": "mine" } });
    expect(answer).toMatchObject({
      status: 201,
      text: "hello",
      headers: { "set-cookie": ["a=1", "b=2; Path=/"], "x-own": "1", "x-request-id": "mine", "content-length": "5" },
    });
    expect(answer.headers).not.toHaveProperty("clear-site-data");
    expect(answer.headers["connection"]).toBe("keep-alive");
    expect((await send({ path: "/none" })).headers).not.toHaveProperty("content-length");
    expect(await send({ path: "/same" })).toMatchObject({ status: 304, text: "", headers: { etag: '"1"' } });
  });

  test("streams only what the client reads, and stops when the client disconnects", async () => {
    let pulls = 0;
    let cancelled = false;
    let aborted = false;
    server.use({
      server: {
        fetch: (request) => {
          request.signal.addEventListener("abort", () => (aborted = true));
          return new Response(
            new ReadableStream(
              { pull: (controller) => ((pulls += 1), controller.enqueue(new Uint8Array(65_536))), cancel: () => void (cancelled = true) },
              { highWaterMark: 0 },
            ),
          );
        },
      },
    });
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "readable");
    await expect.poll(() => pulls).toBeGreaterThan(3);
    let before = -1;
    await expect.poll(() => [before === pulls, (before = pulls)][0], { interval: 200 }).toBe(true);
    expect(pulls).toBeLessThan(400);
    socket.destroy();
    await expect.poll(() => [cancelled, aborted]).toEqual([true, true]);
  });

  test("closes the connection when its response body fails or has the wrong length", async () => {
    server.use({
      server: {
        routes: {
          "/broken": () => new Response(pieces("a", "b", new Error("boom"))),
          "/long": () => new Response(pieces("abc", "def"), { headers: { "content-length": "4" } }),
          "/short": () => new Response(pieces("abc", "d"), { headers: { "content-length": "6" } }),
          "/exact": () => new Response(pieces("abc", "def"), { headers: { "content-length": "6" } }),
        },
      },
    });
    for (const path of ["/broken", "/long", "/short"]) await expect(send({ path }), path).rejects.toThrow();
    expect(await send({ path: "/exact" })).toMatchObject({ text: "abcdef", headers: { "content-length": "6" } });
  });
});
