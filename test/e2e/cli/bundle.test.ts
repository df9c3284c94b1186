import { cp, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, type Run } from "./shell-session.js";

const installed = fileURLToPath(new URL("../../../node_modules/", import.meta.url));

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

function runtimectl(words: string): Promise<Run> {
  return shell.run(words, { env: { RUNTIMECTL_URL: daemon.url, RUNTIMECTL_KEY: daemon.rootKey } });
}

/** Writes a folder in the session's home and copies installed packages into it. */
async function folder(name: string, files: Record<string, string>, packages: readonly string[] = []): Promise<void> {
  await rm(path.join(shell.home, name), { recursive: true, force: true });
  await writeTree(path.join(shell.home, name), files);
  for (const each of packages) {
    await mkdir(path.join(shell.home, name, "node_modules"), { recursive: true });
    await cp(path.join(installed, each), path.join(shell.home, name, "node_modules", each), { recursive: true });
  }
}

async function refusal(files: Record<string, string>): Promise<string> {
  await folder("bad", { "manifest.yaml": "name: bad\nentrypoint: index.ts\n", ...files });
  const run = await runtimectl("workers upload bad --bundle");
  expect(run).toMatchObject({ status: 1, stdout: "" });
  expect((await connect(daemon.url, daemon.rootKey).workers.list()).map((worker) => worker.name)).not.toContain("bad");
  return run.stderr;
}

async function bundlePlan(name: string) {
  const run = await runtimectl(`workers upload ${name} --bundle --dry-run --json`);
  expect(run.status, run.stderr).toBe(0);
  return JSON.parse(run.stdout) as { sha256: string; entrypoint: string; files: { path: string }[]; leftOut: { path: string }[] };
}

/** A Hono app in TypeScript: paths and jsx from tsconfig.json, a CommonJS module, files read at run time. */
const shop = {
  "manifest.yaml": "# the shop\nname: shop\nversion: 1.0.0\nentrypoint: src/index.ts # see there\n",
  "package.json": JSON.stringify({ name: "shop", type: "commonjs", dependencies: { hono: "*", "itty-router": "*" } }),
  "tsconfig.json": JSON.stringify({
    compilerOptions: { paths: { "@lib/*": ["./src/lib/*"] }, jsx: "react-jsx", jsxImportSource: "hono/jsx" },
  }),
  "public/page.html": "page",
  "src/lib/page.tsx":
    'import { readFileSync } from "node:fs";\n' +
    'export const page: string = readFileSync(new URL("../../public/page.html", import.meta.url), "utf8");\n' +
    "export const Bold = ({ text }: { text: string }) => <b>{text}</b>;\n",
  "src/lib/old.cjs": 'module.exports = require("fs").readFileSync(require("path").join(__dirname, "../../public/page.html"), "utf8");',
  "src/index.ts": [
    'import { createRequire } from "node:module";',
    'import { Hono } from "hono";',
    'import { AutoRouter } from "itty-router";',
    'import { page } from "@lib/page";',
    'import old from "./lib/old.cjs";',
    "",
    "interface Trouble {",
    "  text: string;",
    "}",
    "const require = createRequire(import.meta.url);",
    'const app = new Hono({ strict: typeof AutoRouter === "function" });',
    'app.get("/", (context) => context.text([page, old, require("node:path").sep].join(" ")));',
    'app.get("/file/*", async (context) => {',
    "  // As a careless server of files does it.",
    '  const { readFile } = await import("node:fs/promises");',
    '  const relative = "." + new URL(context.req.url).pathname.slice(5);',
    '  for (const root of ["./", "../"])',
    "    try {",
    "      return context.text(await readFile(new URL(relative, new URL(root, import.meta.url)), 'utf8'));",
    "    } catch {}",
    "  return context.notFound();",
    "});",
    'app.get("/boom", () => {',
    '  const trouble: Trouble = { text: "a boom of the shop" };',
    "  throw new Error(trouble.text);",
    "});",
    "app.onError((error) => {",
    "  throw error;",
    "});",
    "export default app;",
    "",
  ].join("\n"),
};

describe("a bundle that `deploy --bundle` creates", () => {
  beforeAll(() => folder("shop", shop, ["hono", "itty-router"]));

  test("contains one code file and the data files that the code reads", async () => {
    const { files, leftOut, entrypoint } = await bundlePlan("shop");
    expect(entrypoint).toBe("src/index.mjs");
    expect(files.map((file) => file.path)).toEqual([
      ".source-maps/src/index.mjs.map",
      "manifest.yaml",
      "package.json",
      "public/page.html",
      "src/index.mjs",
      "tsconfig.json",
    ]);
    expect(leftOut.map((entry) => entry.path)).toEqual(["node_modules/", "src/index.ts", "src/lib/old.cjs", "src/lib/page.tsx"]);
  });

  test("has the same bytes when it is created twice or from a copied folder", async () => {
    const { sha256 } = await bundlePlan("shop");
    await folder("elsewhere/shop", shop, ["itty-router", "hono"]);
    expect((await bundlePlan("elsewhere/shop")).sha256).toBe(sha256);
  });

  test("behaves like its sources with npm packages, CommonJS, aliases and file reads", async () => {
    const run = await runtimectl("workers upload shop --bundle");
    expect(run.status, run.stderr).toBe(0);
    expect(run.stdout).toBe(`${daemon.url}/shop/\n`);
    expect(await (await fetch(`${daemon.url}/shop/`)).text()).toBe("page page /");
  });

  test("shows the file and line of the sources in stack traces", async () => {
    expect((await fetch(`${daemon.url}/shop/boom`)).status).toBe(502);
    await expect.poll(() => daemon.output()).toMatch(/a boom of the shop[^]*src\/index\.ts:25:9/);
  });

  test("does not serve its source map when the worker serves its whole folder", async () => {
    const fetched = async (file: string) => (await fetch(`${daemon.url}/shop/file/${file}`)).status;
    expect(await fetched("index.mjs")).toBe(200);
    expect(await fetched("public/page.html")).toBe(200);
    for (const file of [
      ".source-maps/src/index.mjs.map",
      "src/index.mjs.map",
      "index.mjs.map",
      "%2e%2e/package/.source-maps/src/index.mjs.map",
    ])
      expect(await fetched(file), file).toBe(404);
    expect((await fetch(`${daemon.url}/shop/.source-maps/src/index.mjs.map`)).status).toBe(404);
  });

  test("can be created from a JavaScript entrypoint without a manifest", async () => {
    const files = {
      "package.json": JSON.stringify({ name: "plain", main: "index.js" }),
      "index.js": 'import { AutoRouter } from "itty-router"; export default { ...AutoRouter().get("/", () => "routed") };',
    };
    await folder("plain", files, ["itty-router"]);
    const run = await runtimectl("workers upload plain --bundle");
    expect(run.status, run.stderr).toBe(0);
    expect(await (await fetch(`${daemon.url}/plain/`)).json()).toBe("routed");
  });
});

test("--bundle compiles JSX with the options in tsconfig.json", async () => {
  const files = {
    ...shop,
    "manifest.yaml": "name: jsx\nentrypoint: src/index.tsx\n",
    "src/index.tsx": 'import { Bold } from "@lib/page"; export default { fetch: () => new Response(String(<Bold text="tsx" />)) };',
  };
  await folder("jsx", files, ["hono"]);
  expect((await runtimectl("workers upload jsx --bundle")).status).toBe(0);
  expect(await (await fetch(`${daemon.url}/jsx/`)).text()).toBe("<b>tsx</b>");
});

test("--bundle compiles JSX for React when tsconfig.json has no JSX option", async () => {
  const files = {
    "manifest.yaml": "name: react\nentrypoint: index.tsx\n",
    "tsconfig.json": '{ "compilerOptions": { "strict": true } }',
    "index.tsx":
      'import { renderToString } from "react-dom/server"; import { Old } from "./old.jsx";\n' +
      "export default () => new Response(renderToString(<b>{Old()}</b>));",
    "old.jsx": "/** @jsx h */\nconst h = (name, _, text) => `${name} ${text}`;\nexport const Old = () => <i>classic</i>;",
  };
  await folder("react", files, ["react", "react-dom", "scheduler"]);
  const run = await runtimectl("workers upload react --bundle");
  expect(run.stderr).not.toContain("warning:");
  expect(await (await fetch(`${daemon.url}/react/`)).text()).toBe("<b>i classic</b>");
});

test("--bundle warns that emitDecoratorMetadata has no effect", async () => {
  const files = {
    "manifest.yaml": "name: metadata\nentrypoint: src/index.ts\n",
    "tsconfig.json": '{ "extends": "./tsconfig.base.json" }',
    "tsconfig.base.json": '{ "compilerOptions": { "emitDecoratorMetadata": true, }, }',
    "src/index.ts": "export default () => new Response();",
  };
  await folder("metadata", files);
  const run = await runtimectl("workers upload metadata --bundle");
  expect(run.stderr).toContain("warning: tsconfig.json: esbuild does not support emitDecoratorMetadata");
});

describe("runtimectl workers upload --bundle", () => {
  test("fails for a syntax error, and prints file, line, column and source line", async () => {
    const words = await refusal({ "index.ts": 'import "./src/b";\n', "src/b.ts": "const a = 1;\nconst b = ;\n" });
    expect(words).toContain("src/b.ts:2:11: Unexpected");
    expect(words).toContain("2 | const b = ;\n");
    expect(words).toContain("    |           ^\n");
    expect(words).toContain("BUNDLE_FAILED");
  });

  test("fails for a missing package, and prints the npm command to install the package", async () => {
    const words = await refusal({ "index.ts": 'import a from "@team/a/deep";\nimport b from "left-pad";\nexport default { a, b };\n' });
    expect(words).toContain('index.ts:1:15: Could not resolve "@team/a/deep"');
    expect(words).toContain("hint: npm install @team/a left-pad\n");
  });

  test("fails for a missing file, and prints the name of the missing file", async () => {
    expect(await refusal({ "index.ts": 'export { x } from "./Lib/x.js";\n' })).toContain("hint: ./Lib/x.js does not exist");
  });

  test("fails for code that imports a native addon by its path", async () => {
    const words = await refusal({
      "index.ts": 'import db from "fast-db"; export default db;\n',
      "node_modules/fast-db/package.json": '{"name":"fast-db","main":"index.js"}',
      "node_modules/fast-db/index.js": 'module.exports = require("./build/fast.node");',
      "node_modules/fast-db/build/fast.node": "",
    });
    expect(words).toContain(
      "node_modules/fast-db/build/fast.node is a native addon, which cannot be bundled. Use a package with only JavaScript or WebAssembly, " +
        "or pack the package with --external and set permissions: [addons].",
    );
  });

  test("fails for code that imports a package with a native addon", async () => {
    const words = await refusal({
      "index.ts": 'import db from "fast-db"; export default db;\n',
      "node_modules/fast-db/package.json": '{"name":"fast-db","main":"index.js"}',
      "node_modules/fast-db/index.js": 'module.exports = require(["./build", "fast.node"].join("/"));',
      "node_modules/fast-db/binding.gyp": "{}",
    });
    expect(words).toContain("fast-db is a native addon");
  });

  test("fails for a static page and for an archive", async () => {
    await folder("page", { "manifest.yaml": "name: page\n", "index.html": "page" });
    const page = await runtimectl("workers upload page --bundle");
    expect(page.status).toBe(1);
    expect(page.stderr).toContain("the entrypoint index.html is not a module");
    await writeTree(shell.home, { "ready.tgz": "" });
    expect((await runtimectl("workers upload ready.tgz --bundle")).status).toBe(2);
  });
});
