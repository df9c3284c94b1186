import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyPackages } from "../../../support/copy-packages.js";
import { WorkerServer } from "../../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

let names = 0;
async function add(
  source: string,
  { packages = [], file = "index.mjs" }: { packages?: readonly string[]; file?: string } = {},
): Promise<string> {
  names += 1;
  const version = await server.add(`export-${names}`, { files: { [file]: source }, manifest: { env: { GREETING: "hi" } } });
  await copyPackages(packages, version.folder);
  return `/export-${names}/`;
}

describe("a worker in the style of a Node.js server", () => {
  test.each<[string, string, { packages?: readonly string[]; file?: string }?]>([
    ["an http.Server", `import http from "node:http"; export default http.createServer((req, res) => res.end("ok"))`],
    ["a handler of Node", `export default (req, res) => { res.setHeader("x-a", "1"); res.end("ok"); }`],
    ["a handler of Node with short names", `export default function(a,b){b.end("ok")}`],
    ["a handler of Node in CommonJS", `module.exports = (req, res) => res.end("ok")`, { file: "index.js" }],
    ["a named handler of Node", `export const handler = (req, res, next) => res.end("ok")`],
    [
      "an app of Express",
      `import express from "express"; export default express().get("/", (req, res) => res.send("ok"))`,
      { packages: ["express"] },
    ],
    [
      "an app of Express that also listens",
      `import express from "express"; const app = express().get("/", (req, res) => res.send("ok")); app.listen(3000); export default app`,
      { packages: ["express"] },
    ],
    ["an app of Koa", `import Koa from "koa"; export default new Koa().use((ctx) => { ctx.body = "ok"; })`, { packages: ["koa"] }],
    [
      "an app of Fastify",
      `import Fastify from "fastify"; const app = Fastify(); app.get("/", async () => "ok"); export default app`,
      { packages: ["fastify"] },
    ],
    ["a promise of an app", `export default Promise.resolve({ fetch: () => new Response("ok") })`],
    [
      "a promise of a server",
      `import http from "node:http"; export default Promise.resolve(http.createServer((req, res) => res.end("ok")))`,
    ],
    ["functions named like methods", `export const GET = () => new Response("ok"); export const POST = () => new Response("posted")`],
    ["a default object of methods", `export default { GET: () => new Response("ok") }`],
    [
      "a class with fetch",
      `export default class { constructor(ctx, env) { this.env = env; } fetch() { return new Response(this.env.GREETING === "hi" ? "ok" : "no"); } }`,
    ],
    [
      "a WorkerEntrypoint",
      `import { env, waitUntil, WorkerEntrypoint } from "cloudflare:workers";
       export default class extends WorkerEntrypoint { fetch() { waitUntil(Promise.resolve()); return new Response(env.GREETING + this.env.GREETING === "hihi" && this.ctx.waitUntil ? "ok" : "no"); } }`,
    ],
    [
      "a WorkerEntrypoint in TypeScript",
      `import { env } from "cloudflare:workers"; export default { fetch(): Response { return new Response((env as { GREETING: string }).GREETING === "hi" ? "ok" : "no"); } };`,
      { file: "index.ts" },
    ],
    [
      "a program that listens after an await",
      `import http from "node:http"; await new Promise((resolve) => setTimeout(resolve, 100)); http.createServer((req, res) => res.end("ok")).listen(3000)`,
    ],
    [
      "a program that listens after it is loaded",
      `const http = require("node:http"); setTimeout(() => http.createServer((req, res) => res.end("ok")).listen(3000), 500)`,
      { file: "index.js" },
    ],
    [
      "a program with a second server on PORT",
      `import http from "node:http"; http.createServer((req, res) => res.end("admin")).listen(9000); http.createServer((req, res) => res.end("ok")).listen(process.env.PORT)`,
    ],
  ])("is served when the worker is %s", async (_, source, options) => {
    expect(await server.text(await add(source, options))).toBe("ok");
  });

  test("calls its GET function for HEAD, and responds with 405 for a missing function", async () => {
    const target = await add(`export const GET = () => new Response("ok"); export const POST = () => new Response("posted")`);
    expect(await server.text(`${target}any/path`, { method: "POST" })).toBe("posted");
    expect((await server.fetch(target, { method: "HEAD" })).status).toBe(200);
    const refused = await server.fetch(target, { method: "DELETE" });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });

  test.each([
    ["nothing", "export {};", /must export by default an object with fetch.* or listen with a server of node:http/],
    ["a server that is not HTTP", `import net from "node:net"; net.createServer().listen(3000);`, /serves only HTTP servers of node:http/],
    [
      "a cluster",
      `import cluster from "node:cluster"; if (cluster.isPrimary) cluster.fork();`,
      /cannot start other processes.*`instances`/,
    ],
    ["a forked server", `import { fork } from "node:child_process"; fork("./server.js");`, /cannot start other processes.*`instances`/],
    ["a server on a socket path", `import http from "node:http"; http.createServer().listen("/tmp/s");`, /cannot listen on a socket path/],
  ])("fails to load, with the reason, when it starts %s", async (_, source, reason) => {
    const refusal = await server.refusal(await add(source));
    expect(refusal).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    expect(refusal.message).toMatch(reason);
  });
});
