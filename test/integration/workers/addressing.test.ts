import { connect } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const echoPath = `export default { fetch: (request) => Response.json({ url: request.url, method: request.method, base: request.headers.get("x-base") }) };`;
let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("app", { files: { "index.js": echoPath }, version: "1.4.2" });
  await server.add("app", { files: { "index.js": echoPath }, version: "latest" });
  await server.add("@team/app", { files: { "index.js": echoPath } });
  await server.add("off", { files: { "index.js": echoPath }, problem: "Its manifest cannot be read." });
  await server.add("empty", { files: { "readme.md": "nothing to run" } });
  await server.add("main-missing", { files: { "package.json": `{"main":"lib/none.js"}` } });
});
afterAll(() => server.stop());

/** Sends a request line unchanged, which HTTP clients do not. */
async function raw(target: string, lines = "Host: example.test"): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`);
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk)));
  await once(socket, "close");
  return answer;
}

describe("the routing of paths to workers", () => {
  test("sends requests for /<name>/ to the worker, with URLs that omit the name", async () => {
    expect(await (await server.fetch("/app/a/b?x=1&y=%20")).json()).toEqual({
      url: `${server.url}/a/b?x=1&y=%20`,
      method: "GET",
      base: "/app",
    });
  });

  test("sends requests for /@scope/<name>/ to the worker of the scope", async () => {
    expect(await (await server.fetch("/@team/app/")).json()).toEqual({ url: `${server.url}/`, method: "GET", base: "/@team/app" });
  });

  test("adds the version in the request path to the x-base header", async () => {
    expect(await (await server.fetch("/app@1.4.2/x")).json()).toMatchObject({ url: `${server.url}/x`, base: "/app@1.4.2" });
    expect(await (await server.fetch("/app@1%2E4%2E2/x")).json()).toMatchObject({ base: "/app@1%2E4%2E2" });
  });

  test.each([
    "/",
    "/none/",
    "/@team",
    "/@team/",
    "/@/app/",
    "/app@/",
    "/app@9/",
    "/App/",
    "/%61pp/",
    "/app%2fx",
    "/.hidden/",
    "/app@%E0%A4%A/",
  ])("responds with 404 NOT_FOUND to the path %s", async (target) => {
    expect(await server.refusal(target)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  test("redirects GET and HEAD to the path with a final slash, and keeps the query", async () => {
    const response = await server.fetch("/app?x=1", { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([308, "/app/?x=1"]);
    expect((await server.fetch("/@team/app", { method: "HEAD", redirect: "manual" })).headers.get("location")).toBe("/@team/app/");
    expect(await (await server.fetch("/app", { method: "POST" })).json()).toMatchObject({ url: `${server.url}/`, method: "POST" });
  });

  test("responds with WORKER_START_FAILED and the reason when a worker cannot start", async () => {
    expect(await server.refusal("/off/")).toMatchObject({
      status: 502,
      code: "WORKER_START_FAILED",
      message: "Its manifest cannot be read.",
    });
    expect(await server.refusal("/empty/")).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    expect(await server.refusal("/main-missing")).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
  });
});

describe("a request with an unusual request target", () => {
  test.each([
    ["http://evil.test/app/x", "http://example.test/x"],
    ["/app//evil.test/x", "http://example.test//evil.test/x"],
    ["/app/../../etc/passwd", "http://example.test/etc/passwd"],
    ["/app/%2e%2e/%2e%2e/secret", "http://example.test/secret"],
    ["/app/a%2fb%00c%zz", "http://example.test/a%2fb%00c%zz"],
    ["/app/\\evil.test", "http://example.test//evil.test"],
  ])("with the target %s reaches the worker with the URL %s", async (target, url) => {
    expect(await raw(target)).toContain(JSON.stringify(url));
  });

  test.each(["//app/x", "//evil.test/app", "*", "http://evil.test", "/app#x"])("with the target %s reaches no worker", async (target) => {
    expect(await raw(target)).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test("is never redirected to another host", async () => {
    expect(await raw("//evil.test/..")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await raw("http://evil.test/app")).toContain("location: /app/\r\n");
  });

  test.each(["evil:x@host", "a b", "a:99999", "a/b", "[::1"])("is rejected when the Host header is %s", async (host) => {
    expect(await raw("/app/", `Host: ${host}`)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
