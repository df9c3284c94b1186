import { cp } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const nodeModules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

let names = 0;
async function answer(files: Record<string, string>, target = "", manifest: Record<string, unknown> = {}): Promise<string> {
  names += 1;
  await server.add(`shape-${names}`, { files, manifest });
  return server.text(`/shape-${names}/${target}`);
}

describe("a worker module", () => {
  test.each<[string, Record<string, string>]>([
    ["an object with fetch", { "index.js": `export default { fetch: () => new Response("ok") }` }],
    [
      "an instance with fetch",
      { "index.js": `class App { #text = "ok"; fetch() { return new Response(this.#text); } } export default new App()` },
    ],
    ["a function", { "index.js": `export default () => new Response("ok")` }],
    [
      "an object with asynchronous fetch",
      { "index.js": `export default { async fetch() { await new Promise(setImmediate); return new Response("ok"); } }` },
    ],
    ["named exports", { "index.js": `export function fetch() { return new Response("ok"); }` }],
    ["a CommonJS module", { "index.js": `module.exports = { fetch: () => new Response("ok") }` }],
    [
      "a CommonJS module compiled from ES modules",
      {
        "index.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { fetch: () => new Response("ok") }`,
      },
    ],
    ["the file index.mjs", { "index.mjs": `export default { fetch: () => new Response("ok") }` }],
    ["the main of package.json", { "package.json": `{"main":"lib/app"}`, "lib/app.cjs": `module.exports = () => new Response("ok")` }],
    [
      "an ES module in a package of type module",
      {
        "package.json": `{"type":"module"}`,
        "index.js": `import { text } from "./lib/text.js"; export default () => new Response(text)`,
        "lib/text.js": `export const text = "ok"`,
      },
    ],
    [
      "a TypeScript module",
      {
        "index.ts": `import { text } from "./text"; interface Env { A: string } export default { fetch(request: Request, env: Env): Response { return new Response(text satisfies string); } };`,
        "text.ts": `export const text: string = "ok"; enum Kind { One }`,
      },
    ],
  ])("serves requests (form of the module: %s)", async (_, files) => {
    expect(await answer(files)).toBe("ok");
  });

  test("can destructure waitUntil from the context", async () => {
    const source = `export default { fetch: (request, env, { waitUntil, passThroughOnException }) => { waitUntil(Promise.resolve()); return new Response(typeof passThroughOnException); } }`;
    expect(await answer({ "index.js": source })).toBe("function");
  });

  test("can be any file that the manifest names in the key `entrypoint`", async () => {
    const files = { "index.html": "page", "server/app.js": `export default () => new Response("ok")` };
    expect(await answer(files, "", { entrypoint: "server/app.js" })).toBe("ok");
  });
});

describe("the routes of a worker module", () => {
  const source = `export default {
    routes: {
      "/": new Response("home", { headers: { "x-kept": "1" } }),
      "/users/me": () => new Response("me"),
      "/users/:id": { GET: (request) => new Response("get " + request.params.id), POST: async (request) => new Response("post " + await request.text()) },
      "/files/*": (request) => new Response("rest " + request.params["*"]),
    },
  };`;

  test("are matched in the order literal, named parameter, wildcard", async () => {
    await server.add("routed", { files: { "index.js": source } });
    expect(await server.text("/routed/")).toBe("home");
    expect(await server.text("/routed/")).toBe("home");
    expect(await server.text("/routed/users/me")).toBe("me");
    expect(await server.text("/routed/users/a%2Fb?x=1")).toBe("get a/b");
    expect(await server.text("/routed/users/7", { method: "POST", body: "x" })).toBe("post x");
    expect(await server.text("/routed/files/a/b")).toBe("rest a/b");
    const refused = await server.fetch("/routed/users/7", { method: "DELETE" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST"]);
    expect((await server.fetch("/routed/none")).status).toBe(404);
  });

  test("leave requests without a matching route to the function `fetch`", async () => {
    const files = { "index.js": `export default { routes: { "/a": () => new Response("route") }, fetch: () => new Response("fetch") }` };
    expect(await answer(files, "a")).toBe("route");
    expect(await answer(files, "b")).toBe("fetch");
  });
});

describe("a TypeScript worker", () => {
  test("can import its packages, JSON files and own files", async () => {
    expect(
      await answer({
        "index.ts": `import { greet } from "greeter"; import data from "./data.json"; import { readFileSync } from "node:fs";
          export default () => new Response([greet(data.name), readFileSync(new URL("./note.txt", import.meta.url), "utf8")].join());`,
        "data.json": `{"name":"you"}`,
        "note.txt": "note",
        "tsconfig.json": `{"extends":"../../../../tsconfig.json"}`,
        "node_modules/greeter/package.json": `{"main":"index.js"}`,
        "node_modules/greeter/index.js": `const { basename } = require("path"); exports.greet = (name) => "hello " + basename("/x/" + name);`,
      }),
    ).toBe("hello you,note");
  });

  test("cannot import files outside of its package folder", async () => {
    const outside = await server.add("outside", { files: { "secret.json": `{"secret":true}`, "index.html": "" } });
    for (const source of [
      `import secret from ${JSON.stringify(path.join(outside.folder, "secret.json"))}; export default () => Response.json(secret);`,
      `import secret from "../../outside/latest-${Number(outside.generation) - 1}/secret.json"; export default () => Response.json(secret);`,
    ]) {
      names += 1;
      await server.add(`shape-${names}`, { files: { "index.ts": source } });
      const refusal = await server.refusal(`/shape-${names}/`);
      expect(refusal).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
      expect(refusal.message).toContain("outside of the package folder");
      expect(refusal.message).not.toContain(server.directory);
    }
  });

  test("causes a response and a log entry with the position of a syntax error", async () => {
    names += 1;
    await server.add(`shape-${names}`, { files: { "index.ts": "export default {\n  fetch( {" } });
    expect((await server.refusal(`/shape-${names}/`)).message).toMatch(/index\.ts:2:11: .* in: fetch\( \{$/);
    await expect.poll(() => server.log.map((line) => line.msg).join("\n")).toMatch(/index\.ts:2:10:\n +2 │ +fetch\( \{\n/);
  });

  test("does not affect other workers when it crashes the compiler", async () => {
    const nested = "[".repeat(3_000_000) + "]".repeat(3_000_000);
    await server.add("crashes-compiler", { files: { "index.ts": `export default () => Response.json(${nested});` } });
    expect(await server.refusal("/crashes-compiler/")).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    await server.add("compiles-later", { files: { "index.ts": "export default (): Response => new Response('fine');" } });
    expect(await server.text("/compiles-later/")).toBe("fine");
  });

  test("logs stack traces with positions in its sources", async () => {
    names += 1;
    await server.add(`shape-${names}`, {
      files: { "index.ts": "interface A {}\n\n\nexport default () => { throw new Error('traced'); };" },
    });
    await server.refusal(`/shape-${names}/`);
    await expect.poll(() => server.log.map((line) => line.msg).join("\n")).toMatch(/index\.ts:4:/);
  });
});

describe("a worker that uses a framework from npm", () => {
  test("serves requests with Hono", async () => {
    const version = await server.add("hono", {
      files: {
        "index.js": `
          import { Hono } from "hono";
          import { compress } from "hono/compress";
          import { streamText } from "hono/streaming";
          const app = new Hono();
          app.use("/packed", compress());
          app.get("/", (c) => c.text("root"));
          app.get("/packed", (c) => c.text("x".repeat(5000)));
          app.get("/users/:id", (c) => c.json({ id: c.req.param("id"), agent: c.req.header("user-agent"), variable: c.env.NAME }));
          app.post("/form", async (c) => c.json(await c.req.parseBody()));
          app.get("/stream", (c) => streamText(c, async (stream) => { for (const part of ["a", "b", "c"]) { await stream.write(part); await stream.sleep(1); } }));
          app.get("/cookies", (c) => { c.header("set-cookie", "a=1"); c.header("set-cookie", "b=2", { append: true }); return c.body(null, 204); });
          app.get("/later", (c) => { c.executionCtx.waitUntil(Promise.resolve()); return c.redirect("/elsewhere"); });
          app.get("/error", () => { throw new Error("handled by Hono"); });
          export default app;`,
      },
      manifest: { env: { NAME: "value" } },
    });
    await cp(path.join(nodeModules, "hono"), path.join(version.folder, "node_modules/hono"), { recursive: true });
    expect(await server.text("/hono/")).toBe("root");
    expect((await server.text("/hono/packed")).length).toBe(5000);
    expect(await (await server.fetch("/hono/users/7")).json()).toEqual({ id: "7", agent: "node", variable: "value" });
    expect(await (await server.fetch("/hono/form", { method: "POST", body: new URLSearchParams({ a: "1" }) })).json()).toEqual({ a: "1" });
    expect(await server.text("/hono/stream")).toBe("abc");
    expect((await server.fetch("/hono/cookies")).headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    const redirect = await server.fetch("/hono/later", { redirect: "manual" });
    expect([redirect.status, redirect.headers.get("location")]).toEqual([302, "/elsewhere"]);
    expect((await server.fetch("/hono/error")).status).toBe(500);
    expect((await server.fetch("/hono/none")).status).toBe(404);
  });

  test("serves requests with itty-router", async () => {
    const version = await server.add("itty", {
      files: {
        "package.json": `{"type":"module"}`,
        "index.js": `
          import { AutoRouter } from "itty-router";
          const router = AutoRouter();
          router.get("/hello/:name", ({ name, params, query }) => ({ hello: params.name, name, query })).post("/echo", async (request) => request.json());
          export default router;`,
      },
    });
    await cp(path.join(nodeModules, "itty-router"), path.join(version.folder, "node_modules/itty-router"), { recursive: true });
    expect(await (await server.fetch("/itty/hello/you?a=1")).json()).toEqual({ hello: "you", name: "you", query: { a: "1" } });
    expect(await (await server.fetch("/itty/echo", { method: "POST", body: `{"b":2}` })).json()).toEqual({ b: 2 });
    expect((await server.fetch("/itty/none")).status).toBe(404);
  });
});
