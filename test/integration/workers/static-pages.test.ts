import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const navigation = { headers: { accept: "text/html" } };
let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
});
afterAll(() => server.stop());

describe("a browser's navigation to a missing path of a static site", () => {
  const withPage = { "index.html": "home", "404.html": "missing page" };

  test.each([
    ["gets 404.html", withPage, {}, [404, "missing page"]],
    ["gets the entry page without a 404.html", { "index.html": "home" }, {}, [200, "home"]],
    ["gets the entry page with notFound: spa", withPage, { notFound: "spa" }, [200, "home"]],
    ["gets 404.html with notFound: 404", withPage, { notFound: 404 }, [404, "missing page"]],
  ] as const)("receives a page (case: %s)", async (name, files, manifest, expected) => {
    await server.add("site", { files: { ...files }, manifest, version: `1.0.${name.length}` });
    const response = await server.fetch("/site/some/route", navigation);
    expect([response.status, await response.text()]).toEqual(expected);
    const head = await server.fetch("/site/some/route", { ...navigation, method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([expected[0], String(expected[1].length)]);
    expect((await server.fetch("/site/missing.js")).status).toBe(404);
  });

  test("receives a 404 error when notFound is 404 and the site has no 404.html", async () => {
    await server.add("bare", { files: { "index.html": "home" }, manifest: { notFound: "404" } });
    expect(await server.refusal("/bare/some/route", navigation)).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

  test("receives the whole 404.html even if the request has If-None-Match or Range", async () => {
    await server.add("plain", { files: withPage });
    const etag = (await server.fetch("/plain/404")).headers.get("etag") ?? "";
    const headers = { ...navigation.headers, "if-none-match": etag, range: "bytes=0-1" };
    const response = await server.fetch("/plain/some/route", { headers });
    expect([response.status, await response.text()]).toEqual([404, "missing page"]);
  });
});

describe("the manifest setting injectBase: rewrite", () => {
  const page = `<!doctype html><html><head><link rel="stylesheet" href="/assets/app.css?v=1">
<script type="module" src='/assets/app.js'></script></head><body>
<a href="/">home</a><a href="/about">about</a><a href="/missing">route</a><a href="//cdn.example/x.js">cdn</a><img src="assets/a.png">
<p>href="/assets/app.js"</p></body></html>`;

  test("adds the base path to src and href values that name files of the site", async () => {
    await server.add("built", {
      files: { "index.html": page, "about.html": "about", "assets/app.css": "", "assets/app.js": "" },
      manifest: { injectBase: "rewrite", env: { PUBLIC_X: "1" } },
    });
    const html = await server.text("/built/");
    expect(html).toContain('href="/built/assets/app.css?v=1"');
    expect(html).toContain("src='/built/assets/app.js'");
    expect(html).toContain('<a href="/built/">home</a><a href="/built/about">about</a><a href="/missing">route</a>');
    expect(html).toContain('<a href="//cdn.example/x.js">cdn</a><img src="assets/a.png">');
    expect(html).toContain('<p>href="/assets/app.js"</p>');
    expect(html).toContain('<script>window.__env__={"PUBLIC_X":"1"}</script>');
    expect(html).not.toContain("<base");
    expect(await server.text("/built/deep/route", navigation)).toBe(html);
    expect((await server.fetch("/built/assets/app.js")).status).toBe(200);
  });
});

describe("the manifest setting path: full", () => {
  test("keeps the base path in the URL for modules and for Node.js servers", async () => {
    await server.add("module", {
      files: {
        "index.js": "export default { fetch: (request) => new Response(new URL(request.url).pathname + request.headers.get('x-base')) };",
      },
      manifest: { path: "full" },
    });
    expect(await server.text("/module/a/b")).toBe("/module/a/b/module");
    await server.add("node", {
      files: { "index.mjs": 'import http from "node:http"; http.createServer((req, res) => res.end(req.url)).listen(3000);' },
      manifest: { path: "full" },
    });
    expect(await server.text("/node/a?b=1")).toBe("/node/a?b=1");
  });
});
