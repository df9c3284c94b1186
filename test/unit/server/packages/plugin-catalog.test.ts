import { symlink } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeFiles } from "../../../support/pack-archive.js";
import { openPluginPackages, type PluginPackagesFixture } from "../../../integration/packages/plugin-packages-fixture.js";

let fixture: PluginPackagesFixture;

beforeEach(async () => {
  fixture = await openPluginPackages();
});
afterEach(() => fixture.close());

const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);
const found = (name: string) => fixture.packages.discover().find((plugin) => plugin.name === name);
const names = () => fixture.packages.discover().map(({ name }) => name);
const write = (text: string) => writeFiles(fixture.uploads, { "guard/manifest.yaml": `name: guard\n${text}` });

test("plugin manifests have priority over package.json; npm dependencies are ignored", async () => {
  await writeFiles(fixture.uploads, {
    "guard/manifest.yaml": "base: /guard\ndependencies: [logger]\nenv: { A: 1 }\nlimit: 10\nconfig: { limit: 20, rules: [a] }\n",
    "guard/package.json": JSON.stringify({
      name: "guard",
      version: "1.0.0",
      base: "/other",
      pluginEntry: "dist/guard.js",
      dependencies: { hono: "4" },
      optionalDependencies: { fsevents: "1" },
      scripts: { test: "true" },
    }),
    "npm/package.json": JSON.stringify({ name: "npm", dependencies: { hono: "4" }, main: "index.js" }),
  });

  expect(found("guard")).toMatchObject({
    version: "1.0.0",
    manifest: { base: "/guard", pluginEntry: "dist/guard.js", dependencies: ["logger"], optionalDependencies: [] },
    app: undefined,
    config: { limit: 20, rules: ["a"] },
  });
  expect(found("npm")).toMatchObject({ manifest: { dependencies: [] }, config: {} });
  expect(found("npm")).not.toHaveProperty("problem");
});

test("a plugin manifest with an entrypoint also defines a worker and its settings", async () => {
  await writeFiles(fixture.uploads, {
    "shop/manifest.yaml": "name: shop\nbase: /shop\nentrypoint: app/index.html\nenv: { PUBLIC_A: 1 }\n",
  });

  expect(found("shop")?.app).toMatchObject({ entrypoint: "app/index.html", env: { PUBLIC_A: "1" }, memory: 128 * 1024 ** 2 });
});

test("the plugin catalog ignores hidden folders, links and folders without metadata", async () => {
  await writeFiles(fixture.root, { "outside/manifest.yaml": "name: outside\n" });
  await writeFiles(fixture.uploads, { "notes/readme.md": "", ".hidden/manifest.yaml": "name: hidden\n", "plugin.js": "" });
  await symlink(path.join(fixture.root, "outside"), inUploads("outside"));

  expect(names()).toEqual([]);
});

test.for([
  ["broken YAML", { "manifest.yaml": "name: [" }, "not valid YAML"],
  ["broken JSON", { "package.json": "{" }, "package.json"],
  ["no name", { "manifest.yaml": "base: /x" }, "no name"],
  ["an invalid base", { "manifest.yaml": "name: bad\nversion: 1.0.0\nbase: /a/b" }, "base"],
  ["a reserved base", { "manifest.yaml": "name: bad\nbase: /api" }, "/api"],
  ["a flag of the wrong type", { "manifest.yaml": "name: bad\nenabled: 'no'" }, "enabled"],
  ["worker settings with a disallowed permission", { "manifest.yaml": "name: bad\nentrypoint: a.js\npermissions: [addons]" }, "not given"],
] as const)("the plugin catalog lists an invalid plugin with its problem (problem: %s)", async ([, files, problem]) => {
  await writeFiles(inUploads("bad"), files);
  await writeFiles(inUploads("good"), { "manifest.yaml": "name: good\n" });

  expect(fixture.packages.discover()).toMatchObject([
    { name: "bad", path: inUploads("bad"), problem: expect.stringContaining(problem) as string },
    { name: "good" },
  ]);
  expect(found("good")).not.toHaveProperty("problem");
  await fixture.packages.remove("bad");
  expect(names()).toEqual(["good"]);
});

test("a reserved plugin name is a problem only if the plugin is uploaded", async () => {
  await writeFiles(fixture.uploads, { "api/manifest.yaml": "name: api\n" });
  await writeFiles(fixture.builtIn, { "cpanel/manifest.yaml": "name: cpanel\n" });

  expect(found("api")?.problem).toContain("reserved for the daemon");
  expect(found("cpanel")).not.toHaveProperty("problem");
});

test("the plugin catalog selects among duplicates by directory, then by folder name", async () => {
  const second = path.join(fixture.root, "second");
  const image = path.join(fixture.root, ".image");
  await writeFiles(image, { "guard/manifest.yaml": "name: guard\nversion: 3.0.0\n", "tool/manifest.yaml": "name: tool\n" });
  await writeFiles(second, { "guard/manifest.yaml": "name: guard\nversion: 2.0.0\n" });
  await writeFiles(fixture.uploads, {
    "a-copy/manifest.yaml": "name: guard\nversion: 1.1.0\n",
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "guard/plugin.js": "1",
  });
  Object.assign(fixture.options, { directories: [fixture.uploads, second, image] });
  await fixture.reopen();

  expect(fixture.packages.discover()).toMatchObject([
    { name: "guard", version: "1.0.0", source: "uploaded" },
    { name: "tool", source: "built-in" },
  ]);
  await fixture.packages.remove("guard");
  expect(found("guard")).toMatchObject({ version: "3.0.0", source: "built-in" });
});

test("a plugin manifest counts as changed when settings other than `enabled` differ", async () => {
  await write("limit: 1\n");
  const first = found("guard")?.manifestHash;
  await write("limit: 1 # of many\nenabled: false\n");
  expect(found("guard")).toMatchObject({ enabled: false, manifestHash: first });
  await write("limit: 2\n");
  expect(found("guard")?.manifestHash).not.toBe(first);
});
