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

/** Sends a request line as it is, which no HTTP client would. */
async function raw(target: string, lines = "Host: example.test"): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\n${lines}\r\nConnection: close\r\n\r\n`);
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk)));
  await once(socket, "close");
  return answer;
}

describe("a worker's address", () => {
  test("an unscoped worker answers below its name and sees the path relative to it", async () => {
    expect(await (await server.fetch("/app/a/b?x=1&y=%20")).json()).toEqual({
      url: `${server.url}/a/b?x=1&y=%20`,
      method: "GET",
      base: "/app",
    });
  });

  test("a scoped worker keeps its @", async () => {
    expect(await (await server.fetch("/@team/app/")).json()).toEqual({ url: `${server.url}/`, method: "GET", base: "/@team/app" });
  });

  test("a pinned version is part of the base", async () => {
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
  ])("%s is answered with 404 NOT_FOUND", async (target) => {
    expect(await server.refusal(target)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  test("the bare base is redirected with its query for GET and HEAD, and is the root for other methods", async () => {
    const response = await server.fetch("/app?x=1", { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([308, "/app/?x=1"]);
    expect((await server.fetch("/@team/app", { method: "HEAD", redirect: "manual" })).headers.get("location")).toBe("/@team/app/");
    expect(await (await server.fetch("/app", { method: "POST" })).json()).toMatchObject({ url: `${server.url}/`, method: "POST" });
  });

  test("a package that cannot be started says why, its bare base included", async () => {
    expect(await server.refusal("/off/")).toMatchObject({
      status: 502,
      code: "WORKER_START_FAILED",
      message: "Its manifest cannot be read.",
    });
    expect(await server.refusal("/empty/")).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    expect(await server.refusal("/main-missing")).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
  });
});

describe("a hostile request target", () => {
  test.each([
    ["http://evil.test/app/x", "http://example.test/x"],
    ["/app//evil.test/x", "http://example.test//evil.test/x"],
    ["/app/../../etc/passwd", "http://example.test/etc/passwd"],
    ["/app/%2e%2e/%2e%2e/secret", "http://example.test/secret"],
    ["/app/a%2fb%00c%zz", "http://example.test/a%2fb%00c%zz"],
    ["/app/\\evil.test", "http://example.test//evil.test"],
  ])("%s reaches the app as %s and never leaves it", async (target, url) => {
    expect(await raw(target)).toContain(JSON.stringify(url));
  });

  test.each(["//app/x", "//evil.test/app", "*", "http://evil.test", "/app#x"])("%s finds no worker", async (target) => {
    expect(await raw(target)).toMatch(/^HTTP\/1\.1 40[04] /);
  });

  test("a redirect never names another host", async () => {
    expect(await raw("//evil.test/..")).toMatch(/^HTTP\/1\.1 404 /);
    expect(await raw("http://evil.test/app")).toContain("location: /app/\r\n");
  });

  test.each(["evil:x@host", "a b", "a:99999", "a/b", "[::1"])("Host %s is refused", async (host) => {
    expect(await raw("/app/", `Host: ${host}`)).toMatch(/^HTTP\/1\.1 400 /);
  });
});
