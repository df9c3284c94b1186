import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DevRun } from "./dev-run.js";

const answering = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };\n`;
const manifest = "name: app\nversion: 1.0.0\n";

let run: DevRun;

beforeAll(async () => {
  run = await DevRun.start({ "manifest.yaml": manifest, ".gitignore": "notes/\n*.log\n", "notes/a": "", "index.js": answering("start") });
});

afterAll(() => run?.dispose());

beforeEach(async ({ task }) => {
  await run.save("manifest.yaml", manifest);
  await run.save("index.js", answering(task.name));
  await expect.poll(() => run.text()).toBe(task.name);
  run.forget();
});

test("`dev` serves a changed file, and prints only the URL on stdout", async () => {
  await run.save("index.js", answering("changed"));
  await run.shows(/reloaded in \d+ ms\n/);
  expect(await run.text()).toBe("changed");
  await run.shows(/GET \/app\/ 200 [\d.]+ ms\n/);
  expect(run.stdout).toBe(`${await run.url()}\n`);
  expect(run.stderr).not.toContain("\u001b");
});

test("`dev` reloads when files change in a new folder", async () => {
  await mkdir(path.join(run.folder, "new/deep"), { recursive: true });
  await writeFile(path.join(run.folder, "new/deep/text.js"), 'export const text = "deep";');
  await run.save("index.js", 'import { text } from "./new/deep/text.js"; export default { fetch: () => new Response(text) };');
  await expect.poll(() => run.text()).toBe("deep");
  await run.save("new/deep/text.js", 'export const text = "deeper";');
  await expect.poll(() => run.text()).toBe("deeper");
});

/** Time without changes after which `dev` reloads. On a busy machine, the test itself can pause for this time between two changes. */
const quietMs = 50;

test("`dev` reloads at most twice for 300 quick changes, and then serves the last change", async () => {
  const startedMs = performance.now();
  for (let index = 0; index < 300; index += 1) {
    writeFileSync(path.join(run.folder, `file-${index}.txt`), String(index));
    writeFileSync(path.join(run.folder, "index.js"), answering(`storm ${index}`));
  }
  const possiblePauses = Math.floor((performance.now() - startedMs) / quietMs);
  await expect.poll(() => run.text()).toBe("storm 299");
  expect(run.count(/reloaded in/)).toBeLessThanOrEqual(2 + possiblePauses);
});

/** A change that is not ignored causes a reload within this time. */
const ignoredMs = 1500;

test("`dev` ignores changes in files that are not packed", async () => {
  const before = run.count(/reloaded in/);
  await writeFile(path.join(run.folder, "notes/a"), "changed");
  await writeFile(path.join(run.folder, "debug.log"), "changed");
  await mkdir(path.join(run.folder, ".git"));
  await new Promise((resolve) => setTimeout(resolve, ignoredMs));
  expect(run.count(/reloaded in/)).toBe(before);
  await run.save("index.js", answering("two"));
  await expect.poll(() => run.text()).toBe("two");
});

test.each([
  ["a syntax error", "index.js", "const a = 1;\nexport default { fetch: ( };\n", /index\.js:2:27: Unexpected "}"\n.*2 \| export default/],
  ["an import of a missing file", "index.js", 'import "./lib/none.js";\n', /Cannot find module .*lib\/none\.js' imported from/],
  ["code that throws while it loads", "index.js", '\nthrow new Error("not today");\n', /not today[^]*index\.js:2:7/],
  ["a module without a handler", "index.js", "export const x = 1;\n", /must export by default an object with fetch/],
  ["a manifest that is not valid YAML", "manifest.yaml", "name: app\nenv: [\n", /manifest\.yaml is not valid: .* at line 3, column 1/],
  ["a manifest with an invalid value", "manifest.yaml", "name: app\ntimeout: soon\n", /The package's manifest cannot be used\. timeout: /],
])("`dev` prints the error's position and serves the last valid code (error: %s)", async (_, file, broken, shown) => {
  const before = await run.text();
  await run.save(file, broken);
  await run.shows("the previous code stays active");
  expect(run.stderr).toMatch(shown);
  expect(await run.text()).toBe(before);
});

test("`dev` prints one error and no warning when the code cannot be loaded", async () => {
  const broken = await DevRun.forTest({ "manifest.yaml": "name: app\n", "index.js": 'throw new Error("kaput");\n' });
  await broken.shows("no code is served yet");
  expect(broken.stderr.match(/kaput/g)).toHaveLength(1);
  expect(broken.stderr).toContain("error: the worker's code could not be loaded\n");
  expect(broken.stderr).not.toMatch(/users|the call failed/);
});

test("`dev` serves the worker at a new path when its name or version changes", async () => {
  const url = await run.url();
  await run.save("manifest.yaml", "name: other\nversion: 0.9.0\n");
  await run.shows("the new URL is");
  expect((await fetch(url.replace("/app/", "/other/"))).status).toBe(200);
  expect((await fetch(url)).status).toBe(404);
});
