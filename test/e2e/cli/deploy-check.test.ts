import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

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

const answer = async () => (await fetch(`${daemon.url}/fragile/`)).text();

test("deploy uses the name in package.json when the manifest has no name", async () => {
  const code = "export default { fetch: () => new Response('npm') };";
  await writeTree(shell.home, {
    "npm-only/package.json": '{ "name": "npm-only", "version": "1.0.0" }',
    "npm-only/index.js": code,
    "commented/package.json": '{ "name": "commented", "version": "1.0.0" }',
    "commented/manifest.yaml": "# nothing yet\n",
    "commented/index.js": code,
  });
  for (const name of ["npm-only", "commented"]) {
    succeeded(await shell.run(`deploy ${name}`));
    expect(await (await fetch(`${daemon.url}/${name}/`)).text()).toBe("npm");
  }
});

test("deploy rejects code that throws at load, and prints file, line and column", async () => {
  await writeTree(shell.home, {
    "thrower/manifest.yaml": "name: thrower\nversion: 1.0.0\n",
    "thrower/index.js": 'import { url } from "./lib/database.js";\nexport default { fetch: () => new Response(url) };\n',
    "thrower/lib/database.js": '\nthrow new Error("no database url");\nexport const url = "";\n',
  });

  const refused = await shell.run("deploy thrower");

  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain("Error: no database url (lib/database.js:2:7). Nothing changed.");
});

test("deploy rejects a syntax error, and the previous version stays active", async () => {
  await writeTree(shell.home, {
    "fragile/manifest.yaml": "name: fragile\nversion: 1.0.0\n",
    "fragile/index.js": 'export default { fetch: () => new Response("before") };\n',
  });
  succeeded(await shell.run("deploy fragile"));
  await writeTree(shell.home, {
    "fragile/index.js": 'import "./lib.js";\nexport default { fetch: () => new Response("after") };\n',
    "fragile/lib.js": "export const a = 1;\nlet b = ;\n",
  });

  const refused = await shell.run("deploy fragile --version 1.0.1");

  expect([refused.status, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain('SyntaxError: lib.js:2:9: Unexpected ";"');
  expect(refused.stderr).toContain("Nothing changed.");
  expect(refused.stderr).toContain("  2 | let b = ;\n");
  expect(await answer()).toBe("before");
  expect((await shell.run("workers list")).stdout).not.toContain("1.0.1");

  succeeded(await shell.run("deploy fragile --version 1.0.1 --no-check"));
  expect(await answer()).toContain("WORKER_START_FAILED");
});
