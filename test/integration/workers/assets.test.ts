import { rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const module = `
export default { async fetch(request, env) {
  const { pathname, searchParams } = new URL(request.url);
  const wanted = searchParams.get("asset");
  if (wanted !== null) return env.ASSETS.fetch(searchParams.has("url") ? new URL(wanted, request.url) : new Request(new URL(wanted, request.url), request));
  return new Response("module " + request.method + " " + pathname);
} };`;
const large = Buffer.alloc(300_000, "0123456789");
const files = {
  "server/index.mjs": module,
  "client/index.html": "<!doctype html>home",
  "client/about.html": "about",
  "client/docs/index.html": "docs",
  "client/app-1a2b.js": "let app;".repeat(500),
  "client/large.bin": large,
  "client/404.html": "missing page",
  "client/.hidden": "secret",
  "client/_headers": "/*",
  "client/_worker.js/index.js": "secret",
  "secret.txt": "secret",
};
const plain = { "accept-encoding": "identity" };
const navigation = { accept: "text/html" };
let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
  const add = (name: string, assets: unknown, more: Record<string, unknown> = {}) =>
    server.add(name, { files, manifest: { entrypoint: "server/index.mjs", assets, ...more } });
  await add("app", "client", { headers: { "X-From": "manifest" }, immutable: ["."] });
  await add("first", { directory: "client", workerFirst: true }, { headers: { "X-From": "manifest" }, immutable: ["docs"] });
  await add("spa", { directory: "client", notFound: "spa" });
  await add("page", { directory: "./client", notFound: 404 });
  await add("full", "client", { path: "full" });
});
afterAll(() => server.stop());

const pids = (name: string) => server.engine.numbers().find(({ meter }) => meter.name === name)?.currentLoad?.pids ?? [];

describe("the static assets of a worker module", () => {
  test("are sent without an isolate", async () => {
    await server.add("quiet", { files, manifest: { entrypoint: "server/index.mjs", assets: "client" } });
    expect(await server.text("/quiet/")).toBe("<!doctype html>home");
    expect(await server.text("/quiet/about")).toBe("about");
    expect((await server.fetch("/quiet/docs", { redirect: "manual" })).status).toBe(308);
    expect(pids("quiet")).toEqual([]);
    expect(await server.text("/quiet/api")).toBe("module GET /api");
    expect(pids("quiet")).toHaveLength(1);
  });

  test("are sent with type, ETag, manifest headers, ranges and compression", async () => {
    const response = await server.fetch("/app/app-1a2b.js", { headers: { "accept-encoding": "gzip" } });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-encoding": "gzip",
      "x-from": "manifest",
      vary: "accept-encoding",
    });
    const etag = (await server.fetch("/app/about")).headers.get("etag") ?? "";
    expect((await server.fetch("/app/about", { headers: { "if-none-match": etag } })).status).toBe(304);
    const part = await server.fetch("/app/large.bin", { headers: { range: "bytes=10-19" } });
    expect([part.status, await part.text()]).toEqual([206, "0123456789"]);
    expect((await server.fetch("/app/about", { method: "HEAD" })).headers.get("content-length")).toBe("5");
  });

  test("leave other methods, missing paths and requests with a body to the module", async () => {
    expect(await server.text("/app/about", { method: "POST", body: "x" })).toBe("module POST /about");
    expect(await server.text("/app/missing", { headers: navigation })).toBe("module GET /missing");
    expect(await server.text("/app/about/", { headers: navigation })).toBe("module GET /about/");
  });

  test.each(["/.hidden", "/_headers", "/_worker.js/index.js", "/..%2fsecret.txt", "/server/index.mjs"])(
    "do not include the path %s",
    async (target) => {
      expect(await server.text(`/app${target}`)).toMatch(/^module GET /);
      expect((await server.fetch(`/first/?asset=${encodeURIComponent(target)}`)).status).toBe(404);
    },
  );

  test("are available to the module through env.ASSETS", async () => {
    for (const [target, text] of [
      ["/", "<!doctype html>home"],
      ["/about", "about"],
      ["/docs/", "docs"],
    ] as const) {
      expect(await server.text(`/first${target}`)).toBe(`module GET ${target}`);
      expect(await server.text(`/first/?asset=${target}`)).toBe(text);
    }
    const script = await server.fetch("/first/?asset=/app-1a2b.js", { headers: plain });
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.headers.get("etag")).toBe((await server.fetch("/app/app-1a2b.js", { headers: plain })).headers.get("etag"));
    expect(Buffer.from(await (await server.fetch("/first/?asset=/large.bin")).arrayBuffer()).equals(large)).toBe(true);
    expect((await server.fetch("/first/?asset=/missing")).status).toBe(404);
    const page = await server.fetch("/first/?asset=/docs/");
    expect([page.headers.get("x-from"), page.headers.get("cache-control")]).toEqual(["manifest", "public, max-age=31536000, immutable"]);
    const folder = await server.fetch(`/first/?asset=${encodeURIComponent("/docs?a=1")}`, { redirect: "manual" });
    expect([folder.status, folder.headers.get("location")]).toEqual([308, "./docs/?a=1"]);
    expect((await server.fetch("/first/?asset=/about", { method: "POST" })).status).toBe(405);
  });

  test("provide the entry page or 404.html for a missing page, as notFound specifies", async () => {
    expect(await server.text("/spa/some/route", { headers: navigation })).toBe("<!doctype html>home");
    expect(await server.text("/spa/some/route")).toBe("module GET /some/route");
    const missing = await server.fetch("/page/some/route", { headers: navigation });
    expect([missing.status, await missing.text(), missing.headers.get("content-type")]).toEqual([
      404,
      "missing page",
      "text/html; charset=utf-8",
    ]);
    expect(await server.text("/page/some/route")).toBe("module GET /some/route");
    expect(await server.text("/spa/x?asset=/some/route")).toBe("<!doctype html>home");
    expect((await server.fetch("/page/x?asset=/some/route")).status).toBe(404);
  });

  test("are found below the base path when the module receives full paths", async () => {
    expect(await server.text("/full/about")).toBe("about");
    expect(await server.text("/full/api?x=1")).toBe("module GET /full/api");
    expect(await server.text("/full/x?asset=/full/about")).toBe("about");
    expect(await server.text("/full/x?url&asset=/full/about")).toBe("about");
    expect(await server.text("/full@latest/x?url&asset=/full@latest/about")).toBe("about");
    expect(await server.text("/full/x?url&asset=/about")).toBe("about");
  });

  test("exclude the folder of the module when this folder is in the assets folder", async () => {
    const output = { "dist/index.html": "home", "dist/server/index.mjs": module, "dist/server/chunks/secret.mjs": "secret" };
    await server.add("mixed", { files: output, manifest: { entrypoint: "dist/server/index.mjs", assets: "dist" } });
    expect(await server.text("/mixed/")).toBe("home");
    for (const target of ["/server/index.mjs", "/server/chunks/secret.mjs"]) {
      expect(await server.text(`/mixed${target}`)).toBe(`module GET ${target}`);
      expect((await server.fetch(`/mixed/x?asset=${target}`)).status).toBe(404);
    }
  });

  test("prevent the worker from starting, with a reason, when their folder is missing", async () => {
    await server.add("none", { files, manifest: { entrypoint: "server/index.mjs", assets: "dist" } });
    expect(await server.refusal("/none/")).toMatchObject({
      code: "WORKER_START_FAILED",
      message: expect.stringContaining('The `assets` folder "dist" does not exist.') as string,
    });
  });

  test("leave a request to the module after the requested file was deleted", async () => {
    const version = await server.add("gone", { files, manifest: { entrypoint: "server/index.mjs", assets: "client" } });
    expect(await server.text("/gone/docs/")).toBe("docs");
    await rm(path.join(version.folder, "client/docs"), { recursive: true });
    await expect.poll(() => server.text("/gone/docs/"), { timeout: 5000 }).toBe("module GET /docs/");
  });
});
