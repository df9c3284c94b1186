import { symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readFile, readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const nodeModules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const page = "<!doctype html><html><head><title>t</title></head><body>page</body></html>";
const large = Buffer.alloc(3 * 1024 * 1024, "0123456789");
let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
  const version = await server.add("site", {
    files: {
      "index.html": page,
      "style.css": "body{}",
      "with space.txt": "spaced",
      "large.bin": large,
      "docs/index.html": "docs page",
      "docs/package.json": "{}",
      "about.html": "about page",
      "about/data.txt": "data",
      "empty.txt": "",
      "manifest.yaml": "name: site",
      "package.json": "{}",
      ".env": "SECRET=1",
      ".git/config": "secret",
    },
  });
  await symlink("/etc/passwd", path.join(version.folder, "leak.txt"));
  await symlink("/etc", path.join(version.folder, "leaks"));
  await symlink(path.join(version.folder, ".env"), path.join(version.folder, "hidden.txt"));
  await symlink("style.css", path.join(version.folder, "inside.css"));
});
afterAll(() => server.stop());

/** Returns all headers and the body of a response except those that differ between requests. */
async function answerOf(headers: Record<string, string>) {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) =>
    http.get(`${server.url}/site/style.css`, { headers, agent: false }, resolve).once("error", reject),
  );
  const body = Buffer.concat(await response.toArray()).toString();
  const { connection: _connection, "keep-alive": _keepAlive, "x-request-id": id, date, ...rest } = response.headers;
  return { status: response.statusCode, hasId: id !== undefined, hasDate: date !== undefined, headers: rest, body };
}

const get = (target: string, headers: Record<string, string> = {}) => server.fetch(`/site/${target}`, { headers });

describe("a static site", () => {
  test("serves its page at / with type, length, ETag, Last-Modified and nosniff", async () => {
    const response = await get("");
    expect([response.status, await response.text()]).toEqual([200, page]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-length": String(page.length),
      "cache-control": "no-cache",
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/./),
      etag: expect.stringMatching(/^".+"$/),
      "last-modified": expect.stringMatching(/GMT$/),
    });
  });

  test("serves each file with the content type of its extension", async () => {
    expect((await get("style.css")).headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect((await get("with%20space.txt")).headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect((await get("large.bin")).headers.get("content-type")).toBe("application/octet-stream");
    expect(await (await get("inside.css")).text()).toBe("body{}");
    expect((await get("empty.txt")).headers.get("content-length")).toBe("0");
  });

  test("responds to HEAD with the headers of GET and no body", async () => {
    const response = await server.fetch("/site/large.bin", { method: "HEAD" });
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, String(large.length), ""]);
  });

  test("streams a large file completely", async () => {
    expect(Buffer.from(await (await get("large.bin")).arrayBuffer()).equals(large)).toBe(true);
  });

  test("redirects a folder path without a final slash, and serves its index page", async () => {
    const response = await server.fetch("/site/docs?q=1", { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([308, "./docs/?q=1"]);
    expect(await (await get("docs?q=1")).text()).toBe("docs page");
  });

  test("serves about.html at /about when the folder about has no index page", async () => {
    const response = await get("about");
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/html; charset=utf-8",
      "about page",
    ]);
    expect(await (await get("about/data.txt")).text()).toBe("data");
    expect((await get("about/")).status).toBe(404);
    expect((await get("style")).status).toBe(404);
  });

  test("responds with 405 and Allow to methods other than GET and HEAD", async () => {
    const response = await server.fetch("/site/", { method: "POST", body: "x".repeat(100_000) });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await response.json()).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
  });

  test("sends the entry page to navigations to a missing path, and 404 to other requests", async () => {
    expect(await (await get("deep/link", { accept: "text/html,*/*;q=0.8" })).text()).toBe(page);
    expect((await get("deep/link", { accept: "application/json" })).status).toBe(404);
    expect((await get("missing.js")).status).toBe(404);
  });

  test("serves the new content of a changed file", async () => {
    const version = await server.add("edited", { files: { "index.html": "old" } });
    expect(await server.text("/edited/")).toBe("old");
    await writeFile(path.join(version.folder, "index.html"), "new");
    await expect.poll(() => server.text("/edited/"), { timeout: 5000 }).toBe("new");
  });
});

describe("the hidden files of a static site", () => {
  test.each([
    ".env",
    ".git/config",
    "manifest.yaml",
    "package.json",
    "leak.txt",
    "leaks/passwd",
    "hidden.txt",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "docs%2findex.html",
    "..%5c..%5cetc",
    "style.css%00.html",
    "%zz",
    "docs//index.html",
    "style.css/",
    "style.css/x",
    "x".repeat(5000),
  ])("are not served at the path %s", async (target) => {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) =>
      http.get({ host: "127.0.0.1", port: server.port, path: `/site/${target}` }, resolve).on("error", reject),
    );
    response.resume();
    expect(response.statusCode).toBe(404);
  });

  test("do not include package.json in a subfolder", async () => {
    expect((await get("docs/package.json")).status).toBe(200);
  });
});

describe("conditional requests and range requests to a static site", () => {
  test("receive 304 for a matching If-None-Match or If-Modified-Since", async () => {
    const first = await get("style.css");
    const etag = first.headers.get("etag") ?? "";
    for (const headers of [
      { "if-none-match": etag },
      { "if-none-match": `"other", W/${etag}` },
      { "if-none-match": "*" },
      { "if-modified-since": first.headers.get("last-modified") ?? "" },
    ]) {
      const response = await get("style.css", headers);
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
    }
    expect((await get("style.css", { "if-none-match": '"other"', "if-modified-since": new Date().toUTCString() })).status).toBe(200);
  });

  test("receive the same response with Connection: keep-alive and Connection: close", async () => {
    const etag = (await get("style.css")).headers.get("etag") ?? "";
    for (const headers of [{}, { "if-none-match": etag }]) {
      const answers = await Promise.all(["keep-alive", "close"].map((connection) => answerOf({ ...headers, connection })));
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  test.each([
    ["bytes=0-9", 206, "bytes 0-9", large.subarray(0, 10)],
    ["bytes=5-", 206, `bytes 5-${large.length - 1}`, large.subarray(5)],
    ["bytes=-4", 206, `bytes ${large.length - 4}-${large.length - 1}`, large.subarray(-4)],
    ["bytes=0-0", 206, "bytes 0-0", large.subarray(0, 1)],
    [`bytes=${large.length - 1}-99999999`, 206, `bytes ${large.length - 1}-${large.length - 1}`, large.subarray(-1)],
    ["bytes=5-2", 200, undefined, large],
    ["bytes=0-1,4-5", 200, undefined, large],
    ["lines=1-2", 200, undefined, large],
    ["bytes=-", 200, undefined, large],
  ] as const)("with the header Range: %s receive the status %i", async (range, status, contentRange, body) => {
    const response = await get("large.bin", { range });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-range")).toBe(contentRange ? `${contentRange}/${large.length}` : null);
    expect(response.headers.get("content-length")).toBe(String(body.length));
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
  });

  test("receive 416 and the file size for a range beyond the end of the file", async () => {
    const response = await get("large.bin", { range: "bytes=99999999-" });
    expect([response.status, response.headers.get("content-range")]).toEqual([416, `bytes */${large.length}`]);
    expect((await get("empty.txt", { range: "bytes=0-" })).status).toBe(416);
  });

  test("receive a range with If-Range only if the file is unchanged", async () => {
    const first = await get("style.css");
    const range = "bytes=0-3";
    expect((await get("style.css", { range, "if-range": first.headers.get("etag") ?? "" })).status).toBe(206);
    expect((await get("style.css", { range, "if-range": first.headers.get("last-modified") ?? "" })).status).toBe(206);
    expect((await get("style.css", { range, "if-range": '"other"' })).status).toBe(200);
  });
});

describe("the manifest setting injectBase", () => {
  test("adds the escaped base path and escaped public variables to pages", async () => {
    await server.add("injected", {
      files: { "index.html": "<!doctype html><html><HEAD data-x='1'><title>$& é</title></HEAD></html>", "a.txt": "<head>" },
      manifest: { injectBase: true, env: { PUBLIC_TEXT: "</script><b>$&", SECRET: "hidden" } },
    });
    const response = await server.fetch("/injected/any/where", { headers: { accept: "text/html" } });
    const html = await response.text();
    expect(html).toContain(
      `<HEAD data-x='1'><base href="/injected/"><script>window.__env__={"PUBLIC_TEXT":"\\u003c/script>\\u003cb>$&"}</script><title>`,
    );
    expect(html).toContain("$& é");
    expect(html).not.toContain("hidden");
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(html)));
    expect(await server.text("/injected/a.txt")).toBe("<head>");
  });

  test.each([
    ["/near/", "./"],
    ["/near/page", "./"],
    ["/near/deep/page", "../"],
    ["/near/deep/er/", "../../"],
  ])("adds the relative base to the page at %s (base: %s)", async (target, base) => {
    await server.add("near", { files: { "index.html": "<head></head>" }, manifest: { injectBase: "relative" } });
    expect(await server.text(target, { headers: { accept: "text/html" } })).toBe(`<head><base href="${base}"></head>`);
  });
});

describe("manifest settings for files of a static site", () => {
  test("add the manifest's headers to each file, except reserved headers", async () => {
    const headers = {
      "Content-Security-Policy": "default-src 'self'",
      "content-length": "1",
      etag: "mine",
      "set-cookie": "runtime_api_key=x",
    };
    await server.add("told", { files: { "index.html": "<p>", "a.txt": "a" }, manifest: { headers } });
    for (const [target, body] of [
      ["/told/", "<p>"],
      ["/told/a.txt", "a"],
    ] as const) {
      const response = await server.fetch(target);
      expect(await response.text()).toBe(body);
      expect(response.headers.get("content-security-policy")).toBe("default-src 'self'");
      expect(response.headers.get("etag")).not.toBe("mine");
      expect(response.headers.get("set-cookie")).toBeNull();
      const again = await server.fetch(target, { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
      expect([again.status, again.headers.get("content-security-policy")]).toEqual([304, "default-src 'self'"]);
    }
  });

  test("set a long cache lifetime only for files in the folders of `immutable`", async () => {
    const files = { "index.html": "<p>", "assets/a-1f2e.js": "1", "assets/deep/b-3d4c.css": "2", "assets.txt": "3" };
    await server.add("kept", { files, manifest: { immutable: ["assets"] } });
    const cacheOf = async (target: string) => (await server.fetch(target)).headers.get("cache-control");
    expect(await cacheOf("/kept/assets/a-1f2e.js")).toBe("public, max-age=31536000, immutable");
    expect(await cacheOf("/kept/assets/deep/b-3d4c.css")).toBe("public, max-age=31536000, immutable");
    for (const target of ["/kept/", "/kept/assets.txt"]) expect(await cacheOf(target)).toBe("no-cache");
  });
});

test.each(["swagger-ui-dist", "reveal.js"])("a static site serves every file of the npm package %s unchanged", async (name) => {
  const folder = path.join(nodeModules, name);
  server.serve(name.replace(".", "-"), { folder, version: "latest", manifest: {} });
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const shown = files
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((file) => file !== "package.json");
  for (const file of shown.filter((candidate) => !candidate.split("/").some((part) => part.startsWith(".")))) {
    const [response, wanted] = await Promise.all([
      server.fetch(`/${name.replace(".", "-")}/${file.split("/").map(encodeURIComponent).join("/")}`),
      readFile(path.join(folder, file)),
    ]);
    expect(Buffer.from(await response.arrayBuffer()).equals(wanted), file).toBe(true);
  }
});
