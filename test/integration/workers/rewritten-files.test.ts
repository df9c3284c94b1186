import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

/** The function of a Vite build that loads the files of a lazily loaded module, as minified by Vite 8 and Vite 5. */
const preload = {
  current: "var t=`modulepreload`,n=function(e){return`/`+e},r={}",
  former: 'const s=function(){return t("modulepreload")?"modulepreload":"preload"}(),i=function(e){return"/"+e}',
};
const assets = {
  "index.html": "<p>",
  "assets/a.png": "png",
  "favicon.svg": "svg",
  "my file.svg": "svg",
  "sub/page.html": "page",
  ".hidden.svg": "",
};
let server: WorkerServer;
let count = 0;

beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

/** Adds a site with `injectBase: rewrite` and returns its name. */
async function addSite(files: Record<string, string | Buffer>, manifest: Record<string, unknown> = {}): Promise<string> {
  const name = `site-${(count += 1)}`;
  await server.add(name, { files: { ...assets, ...files }, manifest: { injectBase: "rewrite", ...manifest } });
  return name;
}

async function get(target: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: received, body } = await request(server.url + target, { headers });
  return { status: statusCode, headers: received, body: Buffer.from(await body.arrayBuffer()) };
}

/** Returns the text of a file as served, with `BASE` in place of the base path. */
async function served(content: string, file = "app.js"): Promise<string> {
  const name = await addSite({ [file]: content });
  return (await get(`/${name}/${file}`)).body.toString().replaceAll(`/${name}/`, "BASE/");
}

describe("a script of a site with injectBase: rewrite", () => {
  test.each([
    ["x=`/assets/a.png`", "x=`BASE/assets/a.png`"],
    [`x='/assets/a.png?v=1'`, `x='BASE/assets/a.png?v=1'`],
    ["x={href:`/favicon.svg#icon`}", "x={href:`BASE/favicon.svg#icon`}"],
    ['x=`<use href="/favicon.svg#icon"></use>`', 'x=`<use href="BASE/favicon.svg#icon"></use>`'],
    [String.raw`x="<img src=\"/assets/a.png\">"`, String.raw`x="<img src=\"BASE/assets/a.png\">"`],
    ['x={backgroundImage:"url(/assets/a.png)"}', 'x={backgroundImage:"url(BASE/assets/a.png)"}'],
    ['x="/my%20file.svg"', 'x="BASE/my%20file.svg"'],
    ['x="/my file.svg"', 'x="BASE/my file.svg"'],
    [preload.current, preload.current.replace("`/`", "`BASE/`")],
    [preload.former, preload.former.replace('"/"', '"BASE/"')],
    ['webpackChunkapp=1;r.p="/"', 'webpackChunkapp=1;r.p="BASE/"'],
  ])("has the base path before a URL of an existing file: %s", async (content, expected) => {
    expect(await served(content)).toBe(expected);
  });

  test.each([
    ["the root", 'navigate("/"); x=[`/`]'],
    ["a route", 'route("/assets"); x=`/about`'],
    ["a page without its extension", 'route("/sub/page"); x="/sub/"'],
    ["a missing file", 'x="/assets/b.png"'],
    ["another host", 'x="//assets/a.png"; y="https://x/assets/a.png"'],
    ["the end of a URL", 'x=host+"/favicon.svg"; y=`${host}/favicon.svg`; z=host + "/favicon.svg"'],
    ["the start of a longer path", 'x="/favicon.svgs"; y="/favicon.svg/"'],
    ["a relative path", 'x="./favicon.svg"; y="favicon.svg"'],
    ["a hidden file", 'x="/../index.html"; y="/.hidden.svg"'],
    ["a regular expression", "x=/favicon.svg/"],
    ["a function other than Vite's", 'f=function(e){return"/"+e}; a.p="/"'],
  ])("does not change a string that is %s", async (_, content) => {
    expect(await served(`${content};control=["/favicon.svg"]`)).toBe(`${content};control=["BASE/favicon.svg"]`);
  });

  test("keeps bytes that are not UTF-8, and text before and after each URL", async () => {
    const before = Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x3b]);
    const name = await addSite({ "app.js": Buffer.concat([before, Buffer.from('"ü"+["/favicon.svg"];"ü"')]) });
    const expected = Buffer.concat([before, Buffer.from(`"ü"+["/${name}/favicon.svg"];"ü"`)]);
    expect((await get(`/${name}/app.js`)).body.equals(expected)).toBe(true);
  });

  test("is not changed above 4 MB, with another type, or without injectBase: rewrite", async () => {
    const content = 'x="/favicon.svg"';
    const large = content + " ".repeat(4 * 1024 * 1024);
    const name = await addSite({ "app.js": content, "large.js": large, "data.json": content });
    expect((await get(`/${name}/app.js`)).body.toString()).toBe(`x="/${name}/favicon.svg"`);
    expect((await get(`/${name}/large.js`)).body.toString()).toBe(large);
    expect((await get(`/${name}/data.json`)).body.toString()).toBe(content);
    const based = await addSite({ "app.js": content }, { injectBase: true });
    expect((await get(`/${based}/app.js`)).body.toString()).toBe(content);
  });

  test("is not changed when the manifest declares a content encoding", async () => {
    for (const [coding, expected] of [
      ["content-encoding", (): string => 'x="/favicon.svg"'],
      ["x-other", (name: string) => `x="/${name}/favicon.svg"`],
    ] as const) {
      const name = await addSite({ "app.js": 'x="/favicon.svg"' }, { headers: { [coding]: "identity" } });
      expect((await get(`/${name}/app.js`)).body.toString()).toBe(expected(name));
    }
  });
});

describe("other files of a site with injectBase: rewrite", () => {
  test.each([
    [
      "app.css",
      "a{background:url(/assets/a.png)} b{c:url( '/favicon.svg#x' )}",
      "a{background:url(BASE/assets/a.png)} b{c:url( 'BASE/favicon.svg#x' )}",
    ],
    ["app.css", '@import "/sub/page.html";a{b:url(/c.png)}', '@import "BASE/sub/page.html";a{b:url(/c.png)}'],
    ["app.webmanifest", '{"src":"/assets/a.png","start_url":"/"}', '{"src":"BASE/assets/a.png","start_url":"/"}'],
    [
      "a.html",
      '<img srcset="/assets/a.png 1x, /favicon.svg 2x,/b.png 3x">',
      '<img srcset="BASE/assets/a.png 1x, BASE/favicon.svg 2x,/b.png 3x">',
    ],
    [
      "a.html",
      '<i style="background:url(/assets/a.png)"><img src=/favicon.svg>',
      '<i style="background:url(BASE/assets/a.png)"><img src=BASE/favicon.svg>',
    ],
    [
      "a.html",
      '<style>a{b:url(/favicon.svg)}</style><script>c="/favicon.svg"</script>',
      '<style>a{b:url(BASE/favicon.svg)}</style><script>c="BASE/favicon.svg"</script>',
    ],
    [
      "a.html",
      '<script type="application/json">["/favicon.svg"]</script><script>c="/favicon.svg"</script>',
      '<script type="application/json">["/favicon.svg"]</script><script>c="BASE/favicon.svg"</script>',
    ],
    [
      "a.html",
      '<script src="https://x/a.js" integrity="x"></script><script src="/app.js" integrity="y"></script>',
      '<script src="https://x/a.js" integrity="x"></script><script src="/app.js"></script>',
    ],
  ])("contain the base path before each URL of a site file (file: %s, content: %s)", async (file, content, expected) => {
    expect(await served(content, file)).toBe(expected);
  });
});

describe("a rewritten script", () => {
  const padding = `/*${"p".repeat(300_000)}*/`;

  test("has the correct length, ETag, ranges and compression for each size of the file", async () => {
    for (const rest of ["", `/*${"p".repeat(2000)}*/`, padding]) {
      const name = await addSite({ "app.js": `x="/favicon.svg"${rest}` });
      const expected = `x="/${name}/favicon.svg"${rest}`;
      const whole = await get(`/${name}/app.js`);
      expect(whole.body.toString()).toBe(expected);
      expect(whole.headers["content-length"]).toBe(String(expected.length));
      const etag = String(whole.headers["etag"]);
      expect((await get(`/${name}/app.js`, { "if-none-match": etag })).status).toBe(304);
      const part = await get(`/${name}/app.js`, { range: "bytes=3-9", "if-range": etag });
      expect([part.status, part.body.toString()]).toEqual([206, expected.slice(3, 10)]);
      expect(part.headers["content-range"]).toBe(`bytes 3-9/${expected.length}`);
      if (rest === "") continue;
      const compressed = await get(`/${name}/app.js`, { "accept-encoding": "br" });
      expect(brotliDecompressSync(compressed.body).toString()).toBe(expected);
      expect([whole.headers["vary"], compressed.headers["etag"] === etag]).toEqual(["accept-encoding", false]);
    }
  });

  test("contains the base path of the request URL, and has a separate ETag per base path", async () => {
    const name = "versioned";
    const files = { ...assets, "app.js": 'x="/favicon.svg"' };
    await server.add(name, { files, version: "1.0.0", manifest: { injectBase: "rewrite" } });
    const etags = new Set<unknown>();
    for (const base of [`/${name}`, `/${name}@1.0.0`]) {
      const { headers, body } = await get(`${base}/app.js`);
      expect(body.toString()).toBe(`x="${base}/favicon.svg"`);
      etags.add(headers["etag"]);
    }
    expect(etags.size).toBe(2);
  });

  test("contains the new content after its file has changed", async () => {
    const version = await server.add("edited", { files: { ...assets, "app.js": 'x="/favicon.svg"' }, manifest: { injectBase: "rewrite" } });
    expect(await server.text("/edited/app.js")).toBe('x="/edited/favicon.svg"');
    await writeFile(path.join(version.folder, "app.js"), 'y="/assets/a.png"');
    await expect.poll(() => server.text("/edited/app.js")).toBe('y="/edited/assets/a.png"');
  });

  test("is sent unchanged at a host name of the worker", async () => {
    const name = await addSite({ "app.js": 'x="/favicon.svg"' });
    const atHost = createServer((incoming, response) => {
      server.engine.handle({ request: incoming, response, requestId: "host", hostTarget: { name, range: undefined } });
    });
    await once(atHost.listen(0, "127.0.0.1"), "listening");
    try {
      const response = await fetch(`http://127.0.0.1:${(atHost.address() as AddressInfo).port}/app.js`);
      expect(await response.text()).toBe('x="/favicon.svg"');
      expect(await server.text(`/${name}/app.js`)).toBe(`x="/${name}/favicon.svg"`);
    } finally {
      atHost.close();
    }
  });
});
