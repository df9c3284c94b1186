import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { entriesOf } from "../../support/entries-of.js";
import { writeFiles } from "../../support/pack-archive.js";
import { treeLines } from "../../support/tree-digest.js";
import { openPluginPackages, type PluginPackagesFixture } from "./plugin-packages-fixture.js";

let fixture: PluginPackagesFixture;
/** Files of the built-in directory. No test is allowed to change these files. */
let shipped: string[];

beforeEach(async () => {
  fixture = await openPluginPackages();
  await writeFiles(fixture.builtIn, {
    "gateway/manifest.yaml": "name: gateway\nversion: 1.0.0\nenabled: false\nlimit: 10\nconfig: { cors: none, trust: [] }\n",
    "gateway/plugin.js": "1",
  });
  shipped = await treeLines(fixture.builtIn);
});
afterEach(async () => {
  expect(await treeLines(fixture.builtIn)).toEqual(shipped);
  await fixture.close();
});

const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);
const builtInFolder = () => path.join(fixture.builtIn, "gateway");
const found = (name: string) => fixture.packages.discover().find((plugin) => plugin.name === name);
const onlyFolders = (...folders: string[]) => expect.poll(() => entriesOf(fixture.uploads)).toEqual(folders);

test("an override changes the settings, but not the code, of a built-in plugin", async () => {
  const before = found("gateway");
  expect(before).toMatchObject({ enabled: false, source: "built-in", config: { limit: 10, cors: "none" } });

  const answer = await fixture.install({ "manifest.yaml": "name: gateway\nenabled: true\ncors: all\nbase: /gate\n" });

  expect(answer).toEqual({ name: "gateway", version: "1.0.0", installedAt: inUploads("gateway") });
  expect(fixture.packages.discover()).toMatchObject([
    {
      name: "gateway",
      version: "1.0.0",
      source: "built-in",
      removable: true,
      enabled: true,
      folder: builtInFolder(),
      path: inUploads("gateway"),
      manifest: { base: "/gate" },
      config: { limit: 10, cors: "all", trust: [] },
    },
  ]);
  expect(found("gateway")?.manifestHash).not.toBe(before?.manifestHash);
  await fixture.packages.remove("gateway");
  expect(found("gateway")).toEqual(before);
  await onlyFolders();
});

test("enabling a built-in plugin creates an override file, which disabling deletes", async () => {
  await fixture.packages.setEnabled("gateway", false);
  expect(entriesOf(fixture.uploads)).toEqual([]);

  await fixture.packages.setEnabled("gateway", true);

  expect(await readFile(inUploads("gateway/manifest.yaml"), "utf8")).toBe('name: "gateway"\nenabled: true\n');
  expect(found("gateway")).toMatchObject({ enabled: true, source: "built-in", removable: true, folder: builtInFolder(), version: "1.0.0" });
  await fixture.reopen();
  expect(found("gateway")).toMatchObject({ enabled: true, source: "built-in" });
  await fixture.packages.setEnabled("gateway", false);
  expect(found("gateway")).toMatchObject({ enabled: false, source: "built-in", removable: false, path: builtInFolder() });
  await onlyFolders();
});

test("an override keeps its settings when an operator disables the built-in plugin", async () => {
  await fixture.install({ "manifest.yaml": "name: gateway\nenabled: true\ncors: all\n" });

  await fixture.packages.setEnabled("gateway", false);

  expect(await readFile(inUploads("gateway/manifest.yaml"), "utf8")).toBe("name: gateway\nenabled: false\ncors: all\n");
  expect(found("gateway")).toMatchObject({ enabled: false, source: "built-in", removable: true, config: { cors: "all" } });
});

test.for([
  ["a module", { "plugin.mjs": "1" }],
  ["an index module", { "index.js": "1" }],
  ["a module that its manifest names", { "lib/a.js": "1", "manifest.yaml": "name: gateway\npluginEntry: lib/a.js\n" }],
  ["an entrypoint", { "index.html": "1", "manifest.yaml": "name: gateway\nentrypoint: index.html\n" }],
] as const)("an upload of code for a built-in plugin is rejected (the package contains %s)", async ([, files]) => {
  const packed = { "manifest.yaml": "name: gateway\n", ...files };
  await expect(fixture.install(packed)).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
  await writeFiles(inUploads("gateway"), packed);

  expect(found("gateway")).toMatchObject({ source: "built-in", folder: builtInFolder(), path: builtInFolder() });
  await expect(fixture.packages.remove("gateway")).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN" });
  await expect(fixture.packages.setEnabled("gateway", true)).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
});

test("an override for a built-in plugin is rejected if it has only a package.json", async () => {
  const refused = fixture.install({ "package.json": '{"name":"gateway"}' });
  await expect(refused).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
  expect(entriesOf(fixture.uploads)).toEqual([]);
});

test.for(["base: /api", "config: none", "enabled: maybe", "entrypoint: ../x"])(
  "an override for a built-in plugin is rejected with the invalid setting %s",
  async (line) => {
    await expect(fixture.install({ "manifest.yaml": `name: gateway\n${line}\n` })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
    });
    expect(entriesOf(fixture.uploads)).toEqual([]);
  },
);

test("a built-in plugin is listed with a problem when its override has invalid YAML", async () => {
  await writeFiles(fixture.uploads, { "gateway/manifest.yaml": "name: [" });
  expect(found("gateway")).toMatchObject({ source: "built-in", removable: true, problem: expect.stringContaining("YAML") as string });
  await fixture.packages.remove("gateway");
  expect(found("gateway")).toMatchObject({ source: "built-in" });
});

test("an override is accepted for a built-in plugin that is stored in a hidden folder", async () => {
  const image = path.join(fixture.root, ".image");
  await writeFiles(image, { "tool/manifest.yaml": "name: tool\n", "tool/index.mjs": "1" });
  Object.assign(fixture.options, { directories: [fixture.uploads, image] });
  await fixture.reopen();

  await fixture.install({ "manifest.yaml": "name: tool\nlimit: 1\n" });

  expect(found("tool")).toMatchObject({ folder: path.join(image, "tool"), path: inUploads("tool"), config: { limit: 1 } });
});
