import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

/** Each program serves GET /, POST /json, GET /stream, GET /fails and GET /users/:id. */
const programs: Readonly<Record<string, { packages: readonly string[]; source: string }>> = {
  express: {
    packages: ["express"],
    source: `
      import express from "express";
      const app = express();
      app.use(express.json());
      app.get("/", (req, res) => res.send("root"));
      app.post("/json", (req, res) => res.json(req.body));
      app.get("/users/:id", (req, res) => res.json({ id: req.params.id, query: req.query.q, protocol: req.protocol }));
      app.get("/stream", async (req, res) => { for (const part of ["a", "b", "c"]) { res.write(part); await new Promise(setImmediate); } res.end(); });
      app.get("/fails", async () => { throw new Error("handled by the framework"); });
      app.listen(process.env.PORT, () => console.log("listening"));`,
  },
  fastify: {
    packages: ["fastify"],
    source: `
      import Fastify from "fastify";
      import { Readable } from "node:stream";
      const app = Fastify();
      app.get("/", async () => "root");
      app.post("/json", async (request) => request.body);
      app.get("/users/:id", { schema: { response: { 200: { type: "object", properties: { id: { type: "string" }, query: { type: "string" }, protocol: { type: "string" } } } } } },
        async (request) => ({ id: request.params.id, query: request.query.q, protocol: request.protocol }));
      app.get("/stream", (request, reply) => reply.send(Readable.from(["a", "b", "c"])));
      app.get("/fails", async () => { throw new Error("handled by the framework"); });
      await app.listen({ port: 3000 });`,
  },
  koa: {
    packages: ["koa", "@koa/router", "koa-body"],
    source: `
      import Koa from "koa";
      import Router from "@koa/router";
      import { koaBody } from "koa-body";
      import { Readable } from "node:stream";
      const router = new Router();
      router.get("/", (ctx) => { ctx.body = "root"; });
      router.post("/json", (ctx) => { ctx.body = ctx.request.body; });
      router.get("/users/:id", (ctx) => { ctx.body = { id: ctx.params.id, query: ctx.query.q, protocol: ctx.protocol }; });
      router.get("/stream", (ctx) => { ctx.type = "text"; ctx.body = Readable.from(["a", "b", "c"]); });
      router.get("/fails", () => { throw new Error("handled by the framework"); });
      const app = new Koa();
      app.silent = true;
      app.use(koaBody()).use(router.routes()).listen(3000);`,
  },
  nest: {
    packages: ["@nestjs/core", "@nestjs/common", "@nestjs/platform-express", "reflect-metadata", "rxjs"],
    source: `
      import "reflect-metadata";
      import { NestFactory } from "@nestjs/core";
      import { Body, Controller, Get, HttpCode, Module, Param, Post, Query, Req, Res } from "@nestjs/common";
      // What the TypeScript compiler writes for decorators.
      const decorate = (target, name, decorators) => { for (const one of decorators) one(target, name, Object.getOwnPropertyDescriptor(target, name)); };
      class App {
        root() { return "root"; }
        json(body) { return body; }
        user(id, q, req) { return { id, query: q, protocol: req.protocol }; }
        async stream(res) { for (const part of ["a", "b", "c"]) { res.write(part); await new Promise(setImmediate); } res.end(); }
        fails() { throw new Error("handled by the framework"); }
      }
      decorate(App.prototype, "root", [Get("/")]);
      decorate(App.prototype, "json", [Post("json"), HttpCode(200), (t, n) => Body()(t, n, 0)]);
      decorate(App.prototype, "user", [Get("users/:id"), (t, n) => Param("id")(t, n, 0), (t, n) => Query("q")(t, n, 1), (t, n) => Req()(t, n, 2)]);
      decorate(App.prototype, "stream", [Get("stream"), (t, n) => Res()(t, n, 0)]);
      decorate(App.prototype, "fails", [Get("fails")]);
      Controller()(App);
      class Root {}
      Module({ controllers: [App] })(Root);
      // Without a top-level await, as the generated main.ts.
      async function bootstrap() { const app = await NestFactory.create(Root, { logger: false }); await app.listen(process.env.PORT ?? 3000); }
      bootstrap();`,
  },
};

describe.each(Object.entries(programs))("a Node.js program with %s, deployed as a worker", (name, program) => {
  beforeAll(() => addProgram(name, program));

  test("serves its routes without code changes", async () => {
    expect(await server.text(`/${name}/`)).toBe("root");
    const user = await server.fetch(`/${name}/users/7?q=a%20b`);
    expect(await user.json()).toEqual({ id: "7", query: "a b", protocol: "http" });
    expect(user.headers.get("content-type")).toMatch(/^application\/json/);
    expect((await server.fetch(`/${name}/none`)).status).toBe(404);
  });

  test("reads request bodies and streams responses", async () => {
    const data = { text: "x".repeat(60_000) };
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(data) };
    expect(await (await server.fetch(`/${name}/json`, init)).json()).toEqual(data);
    expect(await server.text(`/${name}/stream`)).toBe("abc");
  });

  test("responds with 500 when a route throws, and continues", async () => {
    expect((await server.fetch(`/${name}/fails`)).status).toBe(500);
    expect(await server.text(`/${name}/`)).toBe("root");
  });
});

async function askYoga(query: string, accept: string): Promise<string> {
  const headers = { "content-type": "application/json", accept };
  return server.text("/yoga/", { method: "POST", headers, body: JSON.stringify({ query }) });
}

test("a worker with GraphQL Yoga responds to queries and streams subscriptions", async () => {
  await addProgram("yoga", {
    packages: ["graphql-yoga", "graphql"],
    source: `
      import { createServer } from "node:http";
      import { createSchema, createYoga } from "graphql-yoga";
      const schema = createSchema({
        typeDefs: "type Query { hello(name: String): String } type Subscription { count: Int }",
        resolvers: {
          Query: { hello: (_, { name }) => "Hello " + name },
          Subscription: { count: { subscribe: async function* () { for (const count of [1, 2, 3]) yield { count }; } } },
        },
      });
      createServer(createYoga({ schema, graphqlEndpoint: "/" })).listen(4000);`,
  });
  expect(await askYoga('{ hello(name: "Ann") }', "application/json")).toBe('{"data":{"hello":"Hello Ann"}}');
  expect(await askYoga("subscription { count }", "text/event-stream")).toContain('data: {"data":{"count":3}}');
});
