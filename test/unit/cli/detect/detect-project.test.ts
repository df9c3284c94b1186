import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { detectProject } from "../../../../src/cli/detect/detect-project.js";
import { frameworks } from "../../../../src/cli/detect/frameworks.js";
import { writeTree } from "../../../support/write-tree.js";

async function detected(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(path.join(tmpdir(), "detect-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeTree(folder, files);
  return detectProject(folder);
}

const packageJson = (fields: object) => JSON.stringify({ name: "app", ...fields });

describe("detectProject", () => {
  test.each(frameworks.filter(({ packages }) => packages.length > 0))(
    "detects $name with each output folder that its build can create",
    async ({ name, packages, outputs }) => {
      for (const { file, module } of outputs) {
        const output = file.replace("*", "app");
        const found = await detected({ "package.json": packageJson({ devDependencies: { [packages[0] as string]: "1" } }), [output]: "" });
        expect(found).toMatchObject({ kind: name, output: { manifest: { entrypoint: module?.path ?? output } } });
      }
    },
  );

  test.each([
    ["a manifest", { "manifest.yaml": "name: a", "index.js": "" }],
    ["an index file and a package name", { "package.json": packageJson({}), "index.js": "" }],
    ["a plugin", { "package.json": packageJson({}), "plugin.js": "", "src/index.ts": "" }],
    ["nothing to serve", { "README.md": "" }],
  ])("detects nothing in a folder with %s", async (_, files) => {
    expect(await detected(files)).toBeUndefined();
  });

  test("detects a folder with package.json and index.html if the page loads files from /", async () => {
    const files = { "package.json": packageJson({}), "index.html": '<script src="/a.js"></script>' };
    expect(await detected(files)).toMatchObject({ kind: "static site", output: { manifest: { injectBase: "rewrite" } } });
    expect(await detected({ ...files, "index.html": '<script src="a.js"></script>' })).toBeUndefined();
  });

  test.each([
    ["TOML with single quotes", "wrangler.toml", "main = 'src/a.ts'\n[assets]\ndirectory = './public'\n"],
    ["JSON in one line", "wrangler.json", '{"name":"x","main":"src/a.ts","assets":{"directory":"./public/"}}'],
  ])("reads the keys `main` and `assets` of a Cloudflare Worker (%s)", async (_, file, text) => {
    const found = await detected({ "package.json": packageJson({}), [file]: text, "src/a.ts": "" });
    expect(found).toMatchObject({ kind: "Cloudflare Worker", output: { manifest: { entrypoint: "src/a.ts" } } });
    expect(String(found?.output?.manifest["assets"])).toMatch(/^public\/?$/);
  });

  test.each([
    ["node server.js", "server.js"],
    ["NODE_ENV=production node --enable-source-maps ./dist/server.mjs", "dist/server.mjs"],
    ["tsx src/server.ts", "src/server.ts"],
  ])("finds the file that the start script %j runs", async (start, file) => {
    const found = await detected({ "package.json": packageJson({ scripts: { start }, devDependencies: { gatsby: "5" } }), [file]: "" });
    expect(found).toMatchObject({ kind: "Node.js server", output: { manifest: { entrypoint: file } } });
  });

  test.each([`node ${"--a ".repeat(40)}`, "node ../outside.js", "node server.js && rm -rf /"])(
    "ignores the start script %j",
    async (start) => {
      expect(await detected({ "package.json": packageJson({ scripts: { start } }), "server.js/x": "" })).toBeUndefined();
    },
  );

  test("returns the missing output folder and the build script of an unbuilt project", async () => {
    const found = await detected({ "package.json": packageJson({ dependencies: { vite: "8" }, scripts: { build: "vite build" } }) });
    expect(found).toMatchObject({ kind: "Vite", output: undefined, expected: ["dist"], buildScript: "build" });
  });
});
