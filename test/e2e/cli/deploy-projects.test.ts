import { symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

/** The packages of this project, which the tested projects import. */
const installed = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const module = (fields: object = {}) => JSON.stringify({ type: "module", version: "0.0.0", ...fields });
const started = (file: string) => ({ "package.json": module({ scripts: { start: `node ${file}` } }) });

interface Project {
  readonly kind: string;
  readonly files: Readonly<Record<string, string>>;
  /** The part of stderr that states the kind of project. Undefined if the project needs no detection. */
  readonly detected?: string;
  /** Folder that is deployed. Default: the folder of the project. */
  readonly folder?: string;
}

/** `TEXT` stands for the response, which changes between deployments. */
const projects: readonly Project[] = [
  { kind: "a static site", files: { "index.html": "TEXT" }, detected: "static site, name: static-site" },
  {
    kind: "a site for the root",
    files: { "index.html": "<script src='/assets/a.js'></script>", "assets/a.js": "/* TEXT */ x = '/assets/a.js';" },
    detected: "static site, injectBase: rewrite, name: site-for-the-root",
  },
  {
    kind: "a module",
    files: { "index.js": "export default { fetch: () => new Response('TEXT') };" },
    detected: "module, name: module",
  },
  {
    kind: "a TypeScript module",
    files: { "package.json": module(), "src/index.ts": "export default { fetch: (): Response => new Response('TEXT') };" },
    detected: "entrypoint: src/index.ts",
  },
  { kind: "handlers by method", files: { "package.json": module(), "index.js": "export const GET = () => new Response('TEXT');" } },
  {
    kind: "a Cloudflare Worker",
    files: {
      "wrangler.toml": 'name = "x"\nmain = "src/worker.ts"\n',
      "package.json": module(),
      "src/worker.ts": "export default { fetch: () => new Response('TEXT') };",
    },
    detected: "Cloudflare Worker, entrypoint: src/worker.ts",
  },
  {
    kind: "a Node.js server",
    files: {
      ...started("server.js"),
      "server.js": "import http from 'node:http'; http.createServer((_, r) => r.end('TEXT')).listen(3000);",
    },
    detected: "Node.js server, entrypoint: server.js",
  },
  {
    kind: "a CommonJS server",
    files: {
      "package.json": '{ "scripts": { "start": "NODE_ENV=production node app.cjs" } }',
      "app.cjs": "require('node:http').createServer((_, r) => r.end('TEXT')).listen(3000);",
    },
    detected: "Node.js server, entrypoint: app.cjs",
  },
  {
    kind: "an Express app",
    files: {
      ...started("server.js"),
      "server.js": "import express from 'express'; const app = express(); app.get('/', (_, r) => r.send('TEXT')); app.listen(3000);",
    },
    detected: "Node.js server",
  },
  {
    kind: "a Fastify app",
    files: {
      ...started("server.js"),
      "server.js":
        "import fastify from 'fastify'; const app = fastify(); app.get('/', async () => 'TEXT'); await app.listen({ port: 3000 });",
    },
    detected: "Node.js server",
  },
  {
    kind: "a Koa app",
    files: { ...started("server.js"), "server.js": "import Koa from 'koa'; new Koa().use((c) => { c.body = 'TEXT'; }).listen(3000);" },
    detected: "Node.js server",
  },
  {
    kind: "a Hono app",
    files: {
      "package.json": module(),
      "src/index.ts": "import { Hono } from 'hono'; const app = new Hono(); app.get('/', (c) => c.text('TEXT')); export default app;",
    },
    detected: "entrypoint: src/index.ts",
  },
  {
    kind: "a WebSocket server",
    files: {
      ...started("server.js"),
      "server.js":
        "import http from 'node:http'; import { WebSocketServer } from 'ws'; const s = http.createServer((_, r) => r.end('TEXT')); new WebSocketServer({ server: s }); s.listen(3000);",
    },
    detected: "Node.js server",
  },
  {
    kind: "a Vite build",
    files: {
      "package.json": module({ devDependencies: { vite: "8" } }),
      "index.html": "source",
      "dist/index.html": "<script src='/assets/a.js'></script>",
      "dist/assets/a.js": "// TEXT",
    },
    detected: "Vite, entrypoint: dist/index.html, injectBase: rewrite",
  },
  {
    kind: "an Eleventy build",
    files: { "package.json": module({ devDependencies: { "@11ty/eleventy": "3" } }), "_site/index.html": "TEXT" },
    detected: "Eleventy, entrypoint: _site/index.html",
  },
  {
    kind: "a build of an unknown tool",
    files: { "package.json": module({ scripts: { build: "x" } }), "public/index.html": "TEXT" },
    detected: "static site, entrypoint: public/index.html",
  },
  {
    kind: "a package of a workspace",
    folder: "packages/web",
    files: {
      "package.json": module({ workspaces: ["packages/*"] }),
      "packages/web/package.json": module(),
      "packages/web/index.js": "import { text } from '@me/lib'; export default { fetch: () => new Response(text) };",
      "node_modules/@me/lib/package.json": module({ name: "@me/lib", main: "index.js", dependencies: { inner: "1" } }),
      "node_modules/@me/lib/index.js": "export { text } from 'inner';",
      "node_modules/inner/package.json": module({ name: "inner", main: "index.js" }),
      "node_modules/inner/index.js": "export const text = 'TEXT';",
    },
  },
];

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

/** Returns the page, and the script that the page loads. */
async function served(url: string): Promise<string> {
  const page = await (await fetch(url)).text();
  const script = /src=['"]([^'"]+)['"]/.exec(page)?.[1];
  return script === undefined ? page : page + (await (await fetch(new URL(script, url))).text());
}

describe("`deploy` without a manifest and without flags", () => {
  test.each(projects)(
    "uploads $kind, then a changed version; `rollback` restores the first version",
    async ({ kind, files, detected, folder = "." }) => {
      const project = kind
        .replace(/^an? /, "")
        .toLowerCase()
        .replaceAll(/[^a-z]+/g, "-");
      const write = (text: string) =>
        writeTree(
          shell.home,
          Object.fromEntries(Object.entries(files).map(([file, content]) => [`${project}/${file}`, content.replaceAll("TEXT", text)])),
        );
      await write("first text");
      if (!Object.keys(files).some((file) => file.startsWith("node_modules/")))
        await symlink(installed, path.join(shell.home, project, "node_modules"));
      const target = path.posix.join(project, folder);

      const first = succeeded(await shell.run(`deploy ${target}`));
      expect(first.stderr).toContain(detected ?? `Package    ${path.posix.basename(target)} 0.1.0`);
      const url = first.stdout.trim();
      expect(await served(url)).toContain("first text");
      const again = succeeded(await shell.run(`deploy ${target}`));
      expect(again.stderr).toContain("is already installed with the same content; nothing was uploaded");

      await write("second text");
      const second = succeeded(await shell.run(`deploy ${target}`));
      expect(second.stderr).toContain("0.1.1 is enabled, 0.1.0 stays installed");
      expect(await served(url)).toContain("second text");

      const name = new URL(url).pathname.replaceAll("/", "");
      succeeded(await shell.run(`workers rollback ${name} --yes`));
      expect(await served(url)).toContain("first text");
    },
  );
});
