import { randomBytes } from "node:crypto";
import { symlink } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

const good = "export default { fetch: () => new Response('good') };";
const handler = (body: string) => `export default { fetch() { ${body} } };`;
const named = (fields = "") => ({ "manifest.yaml": `name: app\n${fields}` });

const page = (body: string) => ({ "manifest.yaml": "name: page", "index.html": `<!doctype html>${body}` });

/** A site whose URLs the daemon rewrites. */
const rewritten = { "manifest.yaml": "name: page\ninjectBase: rewrite", "index.html": "<!doctype html>" };

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
  await writeTree(shell.home, { "good/manifest.yaml": "name: app\n", "good/index.js": good });
  const first = await shell.run("deploy good");
  expect(first, first.stderr).toMatchObject({ status: 0 });
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

async function deploy(files: Record<string, string>, flags = "") {
  const folder = `broken-${(count += 1)}`;
  await writeTree(shell.home, Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content])));
  return { folder, run: await shell.run(`deploy ${folder} ${flags}`) };
}
let count = 0;

const bodyOf = async (name: string) => (await fetch(`${daemon.url}/${name}/`)).text();

type Broken = readonly [cause: string, files: Record<string, string>, expected: RegExp];

const rejected: readonly Broken[] = [
  ["a syntax error", { ...named(), "index.js": "export default { fetch( { return 1 }" }, /index\.js:1:34: .*\n +1 \| /],
  [
    "a syntax error in an imported module",
    { ...named(), "index.js": "import './a.js';", "a.js": "let = ;" },
    /a\.js:1:\d+[^]*1 \| let = ;/,
  ],
  ["a syntax error in TypeScript", { ...named(), "index.ts": "const a: = 1;" }, /index\.ts:1:10/],
  ["a missing file", { ...named(), "index.js": `import "./no.js";\n${good}` }, /index\.js:1:8: the import \.\/no\.js does not exist/],
  ["a missing package", { ...named(), "index.js": `import "left-pad";\n${good}` }, /left-pad is not installed: npm install left-pad/],
  [
    "an excluded package",
    {
      ...named(),
      ".runtimeignore": "node_modules",
      "index.js": `import "dep";\n${good}`,
      "node_modules/dep/package.json": '{ "name": "dep" }',
      "node_modules/dep/index.js": "",
    },
    /the package dep is not packed/,
  ],
  [
    "an error while loading",
    { ...named(), "index.js": `\nthrow new Error("no database");` },
    /no database \(index\.js:2:7\)[^]*2 \| throw/,
  ],
  ["a rejected promise while loading", { ...named(), "index.js": `await Promise.reject(new Error("refused"));` }, /refused/],
  [
    "code that never finishes loading",
    { ...named("timeout: 5s"), "index.js": "await new Promise(() => {});" },
    /could not be loaded|not loaded/,
  ],
  ["an exit while loading", { ...named(), "index.js": "process.exit(3);" }, /exit|could not be loaded/],
  [
    "too little memory",
    { ...named("memory: 32mb"), "index.js": "const a = []; for (;;) a.push(new Array(1e5).fill(a));" },
    /memory limit of 32 MB(?![^]*0x[0-9a-f]{5})/,
  ],
  ["no export", { ...named(), "index.js": "export const a = 1;" }, /fetch/],
  ["an export of the wrong type", { ...named(), "index.js": "export default 5;" }, /fetch/],
  ["require in an ES module", { ...named(), "index.js": `const a = require("fs");\n${good}` }, /require is not defined/],
  ["an API of another runtime", { ...named(), "index.js": "Deno.serve(() => new Response());" }, /Deno is not defined/],
  [
    "a missing entrypoint",
    { ...named("entrypoint: dist/index.js"), "index.js": good },
    /manifest\.yaml:2:13: the entrypoint dist\/index\.js does not exist/,
  ],
  ["an entrypoint outside of the folder", { ...named("entrypoint: ../x.js"), "index.js": good }, /entrypoint/],
  ["a missing folder of assets", { ...named("assets: public"), "index.js": good }, /the folder public of assets has no files/],
  ["an invalid manifest", { "manifest.yaml": "name: app\n  a: [", "index.js": good }, /manifest\.yaml:2:\d+/],
  ["an invalid field", { ...named("instances: 0"), "index.js": good }, /manifest\.yaml:2:12: instances/],
  ["an invalid name", { "manifest.yaml": "name: My App", "index.js": good }, /manifest\.yaml:1:7/],
  ["an invalid version", { ...named("version: 1.0"), "index.js": good }, /manifest\.yaml:2:10/],
  ["invalid JSON in package.json", { "package.json": "{", "index.js": good }, /package\.json:1:\d+/],
  [
    "nothing to serve",
    { "README.md": "hello" },
    /has nothing to deploy: no manifest, package\.json, index\.html or index\.js\nhint: to create a project: runtimectl init NAME/,
  ],
  [
    "a missing build",
    { "package.json": '{ "name": "app", "devDependencies": { "vite": "8" }, "scripts": { "build": "vite build" } }' },
    /Vite: the build output does not exist \(dist\)[^]*deploy --build/,
  ],
  ["the status 500 at /", { ...named(), "index.js": handler("return new Response('x', { status: 500 });") }, /GET \/ failed\. .*500/],
  ["an error in the handler", { ...named(), "index.js": handler("throw new Error('no user');") }, /no user[^]*index\.js:1:/],
  ["no response", { ...named("timeout: 1s"), "index.js": handler("return new Promise(() => {});") }, /did not respond within 1000 ms/],
  [
    "the status 404 at the path in check",
    { ...named("check: /up"), "index.js": handler("return new Response('', { status: 404 });") },
    /GET \/up failed\. .*404/,
  ],
  ["a missing secret", { ...named("secrets: [TOKEN]"), "index.js": good }, /TOKEN/],
  ["a permission that the operator does not allow", { ...named("permissions: [child-process]"), "index.js": good }, /child-process/],
  [
    "a package in TypeScript that a JavaScript module imports",
    {
      ...named(),
      "index.js": `import "typed";\n${good}`,
      "node_modules/typed/package.json": '{ "name": "typed", "type": "module", "main": "index.ts" }',
      "node_modules/typed/index.ts": "export const a: number = 1;",
    },
    /hint: bundle packages that are written in TypeScript: runtimectl deploy --bundle/,
  ],
  [
    "an addon for another architecture",
    {
      ...named(),
      "index.js": `import { createRequire } from "node:module";\ncreateRequire(import.meta.url)("./a.node");\n${good}`,
      "a.node": "\u007fELF",
    },
    /index\.js:2:31[^]*hint: native addons need permissions: \[addons\]/,
  ],
];

describe("`deploy`", () => {
  test.each(rejected)("rejects a folder with %s, and the previous version stays active", async (_, files, expected) => {
    const { run } = await deploy(files);
    expect(run, run.stderr).toMatchObject({ stdout: "" });
    expect(run.status, run.stderr).not.toBe(0);
    expect(run.stderr).toMatch(expected);
    expect(await bodyOf("app")).toBe("good");
  });

  test.each(["", "--bundle"])("prints the TypeScript source line when a request fails (flags: %j)", async (flags) => {
    const source = 'import { user } from "./user.js";\n\nexport default {\n  fetch: (): Response => new Response(user()),\n};\n';
    const user = "export function user(): string {\n  const all: { name: string }[] = [];\n  return all[0]!.name;\n}\n";
    const { run } = await deploy({ ...named("entrypoint: src/index.ts"), "src/index.ts": source, "src/user.ts": user }, flags);
    expect(run, run.stderr).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toMatch(/\n {2}src\/user\.ts:3:18\n {4}3 \| {3}return all\[0\]!\.name;\n/);
    expect(await bodyOf("app")).toBe("good");
  });

  test.each(["", "--quiet"])("rejects a folder whose build fails, and prints its output (flags: %j)", async (flags) => {
    const scripts = { build: "echo compiling; exit 3" };
    const packageJson = JSON.stringify({ name: "app", scripts, devDependencies: { vite: "8" } });
    const { run } = await deploy({ "package.json": packageJson, "node_modules/x/package.json": "{}" }, `--build ${flags}`);
    expect(run, run.stderr).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toMatch(/compiling[^]*npm run build failed \(exit code 3\)/);
    expect(await bodyOf("app")).toBe("good");
  });
});

describe("`deploy`", () => {
  test.each<Broken>([
    [
      "whose page loads files outside of its base path",
      { ...page('<script src="/a.js"></script>'), "a.js": "" },
      /loads \/a\.js, outside of its base path \/page\//,
    ],
    [
      "whose script loads an image outside of its base path",
      { ...page('<script src="./a.js"></script><img src="/page/b.png">'), "a.js": 'x = "/b.png";', "b.png": "" },
      /warning: a\.js: loads \/b\.png, outside of the base path \/page\/(?![^]*does not contain)/,
    ],
    [
      "whose script composes URLs outside of its base path",
      { ...rewritten, "a.js": "x = '/b.png'; y = `/img/${x}.png`; z = '/none/' + x;", "b.png": "", "img/c.png": "" },
      /warning: a\.js: composes URLs below \/img\/ at run time, outside of the base path \/page\/(?![^]*loads)/,
    ],
    [
      "whose script is too large to be rewritten",
      { ...rewritten, "a.js": `x = '/b.png'; /*${"x".repeat(4 * 1024 * 1024)}*/`, "b.png": "" },
      /warning: a\.js: loads \/b\.png, outside of the base path \/page\/: build with relative URLs/,
    ],
    [
      "with a client-side router",
      { ...rewritten, "package.json": '{ "dependencies": { "vue-router": "5" } }' },
      /warning: index\.html: vue-router routes from \/, so it may find no page at the base path \/page\//,
    ],
    ["whose page loads a missing file", page('<link href="./style.css">'), /loads \.\/style\.css, which the package does not contain/],
    [
      "whose module imports a missing package only optionally",
      { "manifest.yaml": "name: optional", "index.js": `await import("no-such").catch(() => 0);\n${good}` },
      /the package no-such is not installed/,
    ],
    [
      "with an unknown key",
      { "manifest.yaml": "name: page\nentrypont: a", "index.html": "" },
      /unknown key entrypont; did you mean entrypoint/,
    ],
    ["with a file that looks secret", { ...page(""), "server.key": "x" }, /server\.key: looks like a secret/],
    [
      "of more than 50 MB",
      { ...page(""), "video.bin": randomBytes(39 * 1024 * 1024).toString("base64") },
      /the package has 5\d\.\d MB; exclude files with \.runtimeignore/,
    ],
  ])("installs a folder and prints a warning about the folder (folder %s)", async (_, files, expected) => {
    const { run } = await deploy(files);
    expect(run, run.stderr).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(expected);
  });

  test("prints no warning if the daemon rewrites URLs and the router reads the base URL", async () => {
    const script = "x = '/b.png'; y = new URL(document.baseURI);";
    const packageJson = '{ "dependencies": { "vue-router": "5" } }';
    const { run } = await deploy({ ...rewritten, "a.js": script, "b.png": "", "package.json": packageJson });
    expect(run, run.stderr).toMatchObject({ status: 0 });
    expect(run.stderr).not.toContain("warning");
  });

  test.each([
    ["", /^compiling$/m],
    ["--quiet", /^$/],
  ])("prints the output of a successful build, except with --quiet (flags: %j)", async (flags, expected) => {
    const scripts = { build: "echo compiling; mkdir -p dist; cp page.html dist/index.html" };
    const packageJson = JSON.stringify({ name: "built", scripts, devDependencies: { vite: "8" } });
    const files = { "package.json": packageJson, "node_modules/x/package.json": "{}", "page.html": "<!doctype html>" };
    const { run } = await deploy(files, `--build ${flags}`);
    expect(run, run.stderr).toMatchObject({ status: 0 });
    expect(run.stderr).toMatch(expected);
  });

  test("installs a project without a build script despite --build", async () => {
    const packageJson = JSON.stringify({ name: "unbuilt", type: "module" });
    const { run } = await deploy({ "package.json": packageJson, "node_modules/x/package.json": "{}", "index.js": good }, "--build");
    expect(run, run.stderr).toMatchObject({ status: 0 });
    expect(run.stderr).toContain("package.json has no build script, so nothing is built");
    expect(await bodyOf("unbuilt")).toBe("good");
  });

  test("installs a folder with a link to a file outside of the folder", async () => {
    await writeTree(shell.home, { "linked/manifest.yaml": "name: page", "linked/index.html": "" });
    await symlink("/etc/hostname", path.join(shell.home, "linked/link"));
    const run = await shell.run("deploy linked");
    expect(run.stderr).toMatch(/link: is excluded: a link to a target outside of the folder/);
  });
});

test("`deploy` names the scope to add when the key is restricted to a namespace", async () => {
  const permissions = "--permission workers:read --permission workers:install";
  await shell.run(`keys create --role custom ${permissions} --namespace @team --out team.key`);
  const denied = await shell.run("deploy good --key-file team.key");
  expect(denied).toMatchObject({ status: 5, stdout: "" });
  expect(denied.stderr).toContain('"app" has no scope. Use a name such as "@team/app", or a key for all namespaces.');
  expect(denied.stderr).toContain("hint: add --name @team/app, or set this name in the manifest\n(NAMESPACE_DENIED, request ");
  const deployed = await shell.run("deploy good --name @team/app --key-file team.key");
  expect(deployed, deployed.stderr).toMatchObject({ status: 0, stdout: `${daemon.url}/@team/app/\n` });
});
