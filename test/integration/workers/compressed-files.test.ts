import { createHash, randomBytes } from "node:crypto";
import { readdir, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request, type Dispatcher } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const text = (seed: string, sizeBytes: number) => seed.repeat(Math.ceil(sizeBytes / seed.length)).slice(0, sizeBytes);
const script = text("export const answer = 42;\n", 20_000);
const largeScript = text("export const large = 'more than is kept in memory';\n", 400_000);
const tooLarge = text("const line = 1;\n", 10 * 1024 * 1024 + 1);
const files = {
  "index.html": `<!doctype html><head></head>${text("<p>text</p>", 4000)}`,
  "app.js": script,
  "large.js": largeScript,
  "small.js": "1",
  "too-large.js": tooLarge,
  "picture.png": Buffer.from(script),
  "plain.bin": Buffer.from(script),
};
let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("site", { files });
});
afterAll(() => server.stop());

/** Returns the response with its body as received bytes. */
async function get(target: string, headers: Record<string, string> = {}, method: Dispatcher.HttpMethod = "GET") {
  const response = await request(server.url + target, { method, headers });
  return { status: response.statusCode, headers: response.headers, body: Buffer.from(await response.body.arrayBuffer()) };
}
const decompressed = async (target: string) => brotliDecompressSync((await get(target, { "accept-encoding": "br" })).body).toString();
const storedFiles = async () => (await readdir(path.join(server.directory, ".compressed-files"))).toSorted();

describe("a static file that a client accepts in compressed form", () => {
  test.each([
    ["br", "gzip, deflate, br, zstd", "br", brotliDecompressSync],
    ["gzip over plain http", "gzip, deflate", "gzip", gunzipSync],
    ["gzip when br is not accepted", "br;q=0, gzip", "gzip", gunzipSync],
    ["br when the client accepts any encoding", "*", "br", brotliDecompressSync],
  ] as const)("is compressed (coding: %s)", async (_, acceptEncoding, coding, decompress) => {
    for (const [target, content] of [
      ["/site/app.js", script],
      ["/site/large.js", largeScript],
    ] as const) {
      const { status, headers, body } = await get(target, { "accept-encoding": acceptEncoding });
      expect([status, headers["content-encoding"], headers["vary"]]).toEqual([200, coding, "accept-encoding"]);
      expect(headers["content-length"]).toBe(String(body.length));
      expect(body.length).toBeLessThan(content.length / 10);
      expect(decompress(body).toString()).toBe(content);
    }
  });

  test.each(["identity", "", "zstd", "gzip;q=0"])(
    "is not compressed for Accept-Encoding %j, but has a Vary header",
    async (acceptEncoding) => {
      const { headers, body } = await get("/site/app.js", { "accept-encoding": acceptEncoding });
      expect([headers["content-encoding"], headers["vary"], body.toString()]).toEqual([undefined, "accept-encoding", script]);
    },
  );

  test("has a separate ETag for each coding, and each ETag causes a 304 response", async () => {
    const etags = new Set<string>();
    for (const acceptEncoding of ["br", "gzip", "identity"]) {
      const first = await get("/site/app.js", { "accept-encoding": acceptEncoding });
      const etag = String(first.headers["etag"]);
      etags.add(etag);
      const again = await get("/site/app.js", { "accept-encoding": acceptEncoding, "if-none-match": etag });
      expect([again.status, again.body.length, again.headers["etag"], again.headers["vary"]]).toEqual([304, 0, etag, "accept-encoding"]);
    }
    expect(etags.size).toBe(3);
  });

  test("has the same headers in the responses to HEAD and GET", async () => {
    for (const target of ["/site/app.js", "/site/large.js"]) {
      const whole = await get(target, { "accept-encoding": "br" });
      const head = await get(target, { "accept-encoding": "br" }, "HEAD");
      expect([head.status, head.body.length, head.headers["content-encoding"]]).toEqual([200, 0, "br"]);
      for (const name of ["content-length", "etag", "vary"]) expect(head.headers[name]).toBe(whole.headers[name]);
    }
  });

  test("is sent uncompressed for a range, and in full when If-Range does not match", async () => {
    const compressed = await get("/site/app.js", { "accept-encoding": "br" });
    const part = await get("/site/app.js", { "accept-encoding": "br", range: "bytes=2-9" });
    expect([part.status, part.headers["content-encoding"], part.body.toString()]).toEqual([206, undefined, script.slice(2, 10)]);
    expect(part.headers["etag"]).not.toBe(compressed.headers["etag"]);
    const mixed = await get("/site/app.js", {
      "accept-encoding": "br",
      range: "bytes=2-9",
      "if-range": String(compressed.headers["etag"]),
    });
    expect([mixed.status, mixed.body.toString()]).toEqual([200, script]);
  });

  test("is compressed again when the file changes", async () => {
    const version = await server.add("edited", { files: { "index.html": "<p>", "a.js": script } });
    expect(await decompressed("/edited/a.js")).toBe(script);
    await writeFile(path.join(version.folder, "a.js"), script.replaceAll("42", "43"));
    await expect.poll(() => decompressed("/edited/a.js"), { timeout: 5000 }).toBe(script.replaceAll("42", "43"));
  });

  test("is not confused with another compressed file of equal size and modification time", async () => {
    const other = largeScript.replaceAll("more", "less");
    const version = await server.add("twins", { files: { "index.html": "<p>", "a.js": largeScript, "b.js": other } });
    const time = new Date(1_000_000_000_000);
    for (const name of ["a.js", "b.js"]) await utimes(path.join(version.folder, name), time, time);
    for (const [name, content] of [
      ["a.js", largeScript],
      ["b.js", other],
      ["a.js", largeScript],
    ] as const) {
      const { body } = await get(`/twins/${name}`, { "accept-encoding": "gzip" });
      expect(gunzipSync(body).toString()).toBe(content);
    }
  });

  test("contains the base path and the public variables if the file is a page", async () => {
    await server.add("injected", { files, manifest: { injectBase: "relative", env: { PUBLIC_A: "1" } } });
    for (const [target, base] of [
      ["/injected/", "./"],
      ["/injected/deep/link", "../"],
      ["/injected/", "./"],
    ] as const) {
      const { headers, body } = await get(target, { "accept-encoding": "br", accept: "text/html" });
      expect(headers["content-encoding"]).toBe("br");
      expect(brotliDecompressSync(body).toString()).toContain(`<head><base href="${base}"><script>window.__env__={"PUBLIC_A":"1"}`);
    }
  });
});

describe("a static file that is excluded from compression", () => {
  test.each(["small.js", "too-large.js", "picture.png", "plain.bin"])(
    "is sent uncompressed and without a Vary header (file %s)",
    async (name) => {
      const { status, headers, body } = await get(`/site/${name}`, { "accept-encoding": "br, gzip" });
      expect([status, headers["content-encoding"], headers["vary"]]).toEqual([200, undefined, undefined]);
      expect(body.equals(Buffer.from(files[name as keyof typeof files]))).toBe(true);
    },
  );

  test.each([{ "content-encoding": "gzip" }, { "cache-control": "public, no-transform" }])(
    "is sent uncompressed when the manifest sets the header %j",
    async (headers) => {
      await server.add("own-coding", { files, manifest: { headers } });
      const { body } = await get("/own-coding/app.js", { "accept-encoding": "br, gzip" });
      expect(body.toString()).toBe(script);
    },
  );

  test("has the Vary header that the manifest sets", async () => {
    await server.add("varied", { files, manifest: { headers: { vary: "cookie" } } });
    expect((await get("/varied/app.js", { "accept-encoding": "br" })).headers["vary"]).toBe("cookie, accept-encoding");
    expect((await get("/varied/small.js")).headers["vary"]).toBe("cookie");
  });
});

describe("compressed copies of static files", () => {
  test("are stored once when several sites contain the same file", async () => {
    const content = text(randomBytes(8).toString("hex"), 5000);
    const digest = createHash("sha256").update(content).digest("base64url");
    await server.add("one", { files: { "index.html": "<p>", "a.js": content } });
    await server.add("two", { files: { "index.html": "<p>", "b.js": content } });
    const bodies = await Promise.all(["/one/a.js", "/two/b.js", "/one/a.js"].map((target) => get(target, { "accept-encoding": "br" })));
    for (const { body } of bodies) expect(brotliDecompressSync(body).toString()).toBe(content);
    expect((await storedFiles()).filter((name) => name.startsWith(digest))).toEqual([`${digest}.br`]);
  });

  test("are sent even when the copies cannot be stored", async () => {
    const content = text(randomBytes(8).toString("hex"), 5000);
    await writeFile(path.join(server.directory, "a-file"), "");
    const blocked = await WorkerServer.start({ compressedFilesDirectory: path.join(server.directory, "a-file") });
    try {
      await blocked.add("site", { files: { "index.html": "<p>", "a.js": content } });
      const response = await blocked.fetch("/site/a.js", { headers: { "accept-encoding": "br" } });
      expect([response.headers.get("content-encoding"), await response.text()]).toEqual(["br", content]);
    } finally {
      await blocked.stop();
    }
  });

  test("can be read only by the daemon's user", async () => {
    const { mode } = await stat(path.join(server.directory, ".compressed-files"));
    expect(mode & 0o077).toBe(0);
  });
});
