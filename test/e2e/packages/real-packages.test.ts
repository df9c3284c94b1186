import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../support/open-browser.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const nodeModules = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const run = promisify(execFile);
/** Time limit of a test with a browser on a slow machine. */
const browserTestTimeoutMs = 120_000;

let daemon: TestDaemon;
let browser: Browser;
let workspace: string;

beforeAll(async () => {
  workspace = await mkdtemp(path.join(tmpdir(), "real-packages-"));
  [daemon, browser] = await Promise.all([startDaemon(), openBrowser()]);
}, browserTestTimeoutMs);

afterAll(async () => {
  await browser?.close();
  await daemon?.dispose();
  await rm(workspace, { recursive: true, force: true });
});

/** Uploads with the real command line and returns the URL that it prints. */
async function upload(source: string): Promise<string> {
  const finished = await runRuntimectl(daemon, ["workers", "upload", source, "--json"]);
  expect(finished, finished.stderr).toMatchObject({ status: 0 });
  return (JSON.parse(finished.stdout) as { url: string }).url;
}

/** Creates the tarball of an installed package with `npm pack`: the bytes that the registry would serve. */
async function npmPack(name: string): Promise<string> {
  const { stdout } = await run(
    "npm",
    ["pack", path.join(nodeModules, name), "--pack-destination", workspace, "--ignore-scripts", "--json"],
    { cwd: workspace },
  );
  return path.join(workspace, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
}

/** Opens a page and fails on any error that the page or the network reports. */
async function browse(url: string): Promise<{ page: Awaited<ReturnType<Browser["newPage"]>>; failures: string[] }> {
  const failures: string[] = [];
  const page = await browser.newPage();
  page.on("pageerror", (error) => failures.push(`page: ${error.message}`));
  page.on("response", (response) => {
    // Chromium requests an icon from every origin; a worker is not required to have one.
    if (response.status() >= 400 && !response.url().endsWith("/favicon.ico")) failures.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(url, { waitUntil: "load" });
  return { page, failures };
}

test(
  "the npm tarball of swagger-ui-dist, uploaded unchanged, works in a browser",
  async () => {
    const url = await upload(await npmPack("swagger-ui-dist"));
    const { page, failures } = await browse(url);
    await page.waitForSelector(".swagger-ui .topbar");
    expect(await page.title()).toBe("Swagger UI");
    expect(failures.filter((failure) => failure.includes(daemon.url))).toEqual([]);
    await page.close();
  },
  browserTestTimeoutMs,
);

test(
  "the npm tarball of reveal.js, uploaded unchanged, works in a browser",
  async () => {
    const url = await upload(await npmPack("reveal.js"));
    const { page, failures } = await browse(url);
    await page.waitForSelector(".reveal.ready, .reveal .slides section.present");
    expect(failures).toEqual([]);
    await page.close();
  },
  browserTestTimeoutMs,
);

test("a worker with Hono in node_modules serves routes, parameters and middleware", async () => {
  const folder = await appFolder("hono-app", "hono", {
    "index.js": `
      import { Hono } from "hono";
      import { etag } from "hono/etag";
      const app = new Hono();
      app.use("/etag/*", etag());
      app.get("/", (c) => c.text("Hono!"));
      app.get("/etag/page", (c) => c.html("<p>tagged</p>"));
      app.get("/users/:id", (c) => c.json({ id: c.req.param("id"), from: c.req.query("from") }));
      app.post("/echo", async (c) => c.json(await c.req.json(), 201));
      export default app;`,
  });
  const url = await upload(folder);
  expect(await (await fetch(url)).text()).toBe("Hono!");
  expect(await (await fetch(`${url}users/7?from=here`)).json()).toEqual({ id: "7", from: "here" });
  const echo = await fetch(`${url}echo`, {
    method: "POST",
    body: JSON.stringify({ a: [1, 2] }),
    headers: { "content-type": "application/json" },
  });
  expect([echo.status, await echo.json()]).toEqual([201, { a: [1, 2] }]);
  const tagged = await fetch(`${url}etag/page`);
  expect((await fetch(`${url}etag/page`, { headers: { "if-none-match": tagged.headers.get("etag") ?? "" } })).status).toBe(304);
  expect((await fetch(`${url}nothing`)).status).toBe(404);
});

test("a worker with itty-router in node_modules serves routes and parameters", async () => {
  const folder = await appFolder("itty-app", "itty-router", {
    "index.js": `
      import { AutoRouter } from "itty-router";
      const router = AutoRouter();
      router.get("/hello/:name", ({ name, params }) => ({ hello: name ?? params.name })).get("/text", () => new Response("plain"));
      export default router;`,
  });
  const url = await upload(folder);
  expect(await (await fetch(`${url}hello/you`)).json()).toEqual({ hello: "you" });
  expect(await (await fetch(`${url}text`)).text()).toBe("plain");
  expect((await fetch(`${url}nothing`)).status).toBe(404);
});

test(
  "a single-page app built with Vite serves deep links below its base path",
  async () => {
    const folder = path.join(workspace, "spa");
    await mkdir(folder, { recursive: true });
    await writeFile(
      path.join(folder, "index.html"),
      `<!doctype html><title>SPA</title><div id="app"></div><script type="module" src="/main.js"></script>`,
    );
    await writeFile(path.join(folder, "style.css"), "#app { color: rgb(1, 2, 3) }");
    await writeFile(
      path.join(folder, "main.js"),
      `import "./style.css";
       const { greet } = await import("./greet.js");
       document.querySelector("#app").textContent = greet(location.pathname);`,
    );
    await writeFile(path.join(folder, "greet.js"), "export const greet = (path) => `seen at ${path}`;");
    await build({ root: folder, base: "/spa/", logLevel: "error", build: { outDir: "dist" } });
    await writeFile(path.join(folder, "dist", "manifest.yaml"), "name: spa\nversion: 1.0.0\n");
    const url = await upload(path.join(folder, "dist"));
    for (const deepLink of ["", "settings/profile"]) {
      const { page, failures } = await browse(url + deepLink);
      await page.waitForFunction("document.querySelector('#app').textContent !== ''");
      expect(await page.textContent("#app")).toBe(`seen at /spa/${deepLink}`);
      expect(await page.evaluate("getComputedStyle(document.querySelector('#app')).color")).toBe("rgb(1, 2, 3)");
      expect(failures).toEqual([]);
      await page.close();
    }
    expect((await fetch(`${url}assets/missing.js`)).status).toBe(404);
  },
  browserTestTimeoutMs,
);

test(
  "the API documentation page shows each operation and loads no external file",
  async () => {
    const foreign: string[] = [];
    const page = await browser.newPage();
    page.on("request", (request) => {
      if (!request.url().startsWith(daemon.url) && !request.url().startsWith("data:")) foreign.push(request.url());
    });
    await page.goto(`${daemon.url}/api/docs`, { waitUntil: "load" });
    await page.waitForSelector(".opblock");
    const document = JSON.parse(await (await fetch(`${daemon.url}/api/openapi.json`)).text()) as { paths: Record<string, object> };
    const operationCount = Object.values(document.paths).flatMap((item) => Object.keys(item).filter((key) => key !== "servers")).length;
    expect(await page.locator(".opblock").count()).toBe(operationCount);
    expect(foreign).toEqual([]);
    await page.close();
  },
  browserTestTimeoutMs,
);

/** Creates a folder with a package.json that has a dependency, and with the installed dependency. */
async function appFolder(name: string, dependency: string, files: Record<string, string>): Promise<string> {
  const folder = path.join(workspace, name);
  await mkdir(path.join(folder, "node_modules"), { recursive: true });
  await cp(path.join(nodeModules, dependency), path.join(folder, "node_modules", dependency), { recursive: true, dereference: true });
  const { version } = JSON.parse(await readFile(path.join(nodeModules, dependency, "package.json"), "utf8")) as { version: string };
  await writeFile(
    path.join(folder, "package.json"),
    JSON.stringify({ name, version: "1.0.0", type: "module", main: "index.js", dependencies: { [dependency]: version } }),
  );
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(folder, file), text);
  return folder;
}
