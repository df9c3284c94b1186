import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PluginPackages } from "../../../src/server/packages/plugin-packages.js";
import { writeFiles } from "../../support/pack-archive.js";
import { treeLines } from "../../support/tree-digest.js";
import { openPluginPackages, type PluginPackagesFixture } from "./plugin-packages-fixture.js";

let fixture: PluginPackagesFixture;

beforeEach(async () => {
  fixture = await openPluginPackages();
});
afterEach(() => fixture.close());

const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);
const found = (name: string) => fixture.packages.discover().find((plugin) => plugin.name === name);
const names = () => fixture.packages.discover().map(({ name }) => name);
const onlyFolders = (...folders: string[]) => expect.poll(() => readdirSync(fixture.uploads)).toEqual(folders);

describe("installing", () => {
  test("a plugin lies flat in its directory, a scoped one in its scope's folder", async () => {
    expect(await fixture.install({ "manifest.yaml": "name: guard\nversion: 1.2.0\n", "plugin.js": "1" })).toEqual({
      name: "guard",
      version: "1.2.0",
      installedAt: inUploads("guard"),
    });
    expect((await fixture.install({ "manifest.yaml": "name: '@team/guard'\n", "plugin.js": "1" })).installedAt).toBe(
      inUploads("@team", "guard"),
    );

    expect(fixture.packages.discover()).toMatchObject([
      { name: "@team/guard", version: "latest", source: "uploaded", enabled: true, path: inUploads("@team/guard") },
      { name: "guard", version: "1.2.0", folder: inUploads("guard"), path: inUploads("guard") },
    ]);
    await onlyFolders("@team", "guard");
  });

  test("the one of that name is replaced whole, whatever its version, and what runs from it is retired", async () => {
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 1.0.0\n", "plugin.js": "1", "old.js": "1" });
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 0.9.0\n", "plugin.js": "2" });

    expect(readdirSync(inUploads("guard")).toSorted()).toEqual(["manifest.yaml", "plugin.js"]);
    expect(fixture.packages.discover()).toMatchObject([{ name: "guard", version: "0.9.0" }]);
    expect(fixture.retirements).toEqual([{ folder: inUploads("guard"), movedTo: expect.stringContaining(".staging") as string }]);
    await onlyFolders("guard");
  });

  test("old files are there until what runs from them is done", async () => {
    let done = () => {};
    let movedTo = "";
    Object.assign(fixture.options, {
      retire: (_folder: string, to: string) => {
        movedTo = to;
        return new Promise<void>((resolve) => (done = resolve));
      },
    });
    await fixture.install({ "manifest.yaml": "name: guard\n", "plugin.js": "old" });
    await fixture.install({ "manifest.yaml": "name: guard\n", "plugin.js": "new" });

    expect(await readFile(path.join(movedTo, "plugin.js"), "utf8")).toBe("old");
    done();
    await expect.poll(() => existsSync(movedTo)).toBe(false);
  });

  test("20 installs of one plugin at once leave one whole plugin", async () => {
    const packed = Array.from({ length: 20 }, (_, index) => ({
      "manifest.yaml": "name: guard\n",
      ...Object.fromEntries(Array.from({ length: 10 }, (__, file) => [`files/${file}`, String(index)])),
    }));
    await Promise.all(packed.map((files) => fixture.install(files)));

    const marks = await Promise.all(
      readdirSync(inUploads("guard", "files")).map((file) => readFile(inUploads("guard/files", file), "utf8")),
    );
    expect(marks).toHaveLength(10);
    expect(new Set(marks).size).toBe(1);
    await onlyFolders("guard");
  });

  const plugin = (manifest: string) => ({ "manifest.yaml": manifest, "plugin.js": "new" });
  test.for([
    ["a reserved name", plugin("name: cpanel"), "INVALID_PACKAGE_NAME", "cpanel"],
    ["a base of two segments", plugin("name: guard\nbase: /a/b"), "INVALID_PACKAGE_METADATA", "base"],
    ["a base without a slash", plugin("name: guard\nbase: guard"), "INVALID_PACKAGE_METADATA", "base"],
    ["the empty base", plugin("name: guard\nbase: /"), "INVALID_PACKAGE_METADATA", "base"],
    ["the base of the API", plugin("name: guard\nbase: /api"), "INVALID_PACKAGE_METADATA", "/api"],
    ["the base of the API's prefix", plugin("name: guard\nbase: /_"), "INVALID_PACKAGE_METADATA", "/_"],
    ["the base of the panel", plugin("name: guard\nbase: /cpanel"), "INVALID_PACKAGE_METADATA", "/cpanel"],
    ["the base of discovery", plugin("name: guard\nbase: /.well-known"), "INVALID_PACKAGE_METADATA", "base"],
    ["a module outside", plugin("name: guard\npluginEntry: ../other/plugin.js"), "INVALID_PACKAGE_METADATA", "pluginEntry"],
    ["a dependency that is no name", plugin("name: guard\ndependencies: ['../x']"), "INVALID_PACKAGE_METADATA", "dependencies"],
    ["dependencies as npm writes them", plugin("name: guard\ndependencies: { a: '1' }"), "INVALID_PACKAGE_METADATA", "dependencies"],
    ["a menu that leads elsewhere", plugin("name: guard\nmenus: [{ title: x, path: //evil }]"), "INVALID_PACKAGE_METADATA", "menus"],
    ["a configuration that is no mapping", plugin("name: guard\nconfig: [1]"), "INVALID_PACKAGE_METADATA", "config"],
    ["an app with a bad limit", plugin("name: guard\nentrypoint: a.js\nmemory: lots"), "INVALID_PACKAGE_METADATA", "memory"],
    [
      "an app that asks for too much",
      plugin("name: guard\nentrypoint: a.js\npermissions: [addons]"),
      "INVALID_PACKAGE_METADATA",
      "not given",
    ],
    ["a built-in plugin's name", plugin("name: shipped"), "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN", "shipped"],
    ["a name that climbs", plugin("name: ../guard"), "INVALID_PACKAGE_NAME", "guard"],
    ["a version that is none", plugin("name: guard\nversion: 1.0"), "INVALID_PACKAGE_VERSION", "1.0"],
    ["no name", plugin("version: 1.0.0"), "MISSING_PACKAGE_NAME", "name"],
  ] as const)("%s is refused and changes nothing", async ([, files, code, word]) => {
    await writeFiles(fixture.builtIn, { "shipped/manifest.yaml": "name: shipped\n", "shipped/plugin.js": "1" });
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 1.0.0\n", "plugin.js": "old" });
    const before = await treeLines(fixture.root);

    const refused = fixture.install(files);

    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(word) as string });
    expect(await treeLines(fixture.root)).toEqual(before);
    expect(fixture.retirements).toEqual([]);
  });

  test("one who may not is refused before anything shows", async () => {
    const denied = new Error("denied");
    const refused = fixture.install(plugin("name: '@other/guard'\nbase: /api"), (name) => {
      expect(name).toBe("@other/guard");
      throw denied;
    });

    await expect(refused).rejects.toBe(denied);
    expect(readdirSync(fixture.uploads)).toEqual([]);
  });

  test("without a directory that can be written there is nowhere to install", async () => {
    const hidden = path.join(fixture.root, ".image");
    await writeFiles(fixture.builtIn, { "shipped/manifest.yaml": "name: shipped\n" });
    await mkdir(hidden);
    for (const directories of [[], [hidden], [path.join(fixture.root, "missing", "plugins")]]) {
      Object.assign(fixture.options, { directories });
      await fixture.reopen();
      expect(await fixture.packages.canInstall()).toBe(false);
      await expect(fixture.install(plugin("name: guard"))).rejects.toMatchObject({ code: "NO_PLUGIN_DIRS" });
      await expect(fixture.packages.setEnabled("shipped", false)).rejects.toMatchObject({ code: "NO_PLUGIN_DIRS" });
    }
    expect(readdirSync(hidden)).toEqual([]);
  });
});

describe("what lies on the disk", () => {
  test("the manifest's own keys count; package.json fills in the rest, but for npm's dependencies", async () => {
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

  test("an entrypoint makes an app, with the keys of a worker's manifest", async () => {
    await writeFiles(fixture.uploads, {
      "shop/manifest.yaml": "name: shop\nbase: /shop\nentrypoint: app/index.html\nenv: { PUBLIC_A: 1 }\n",
    });

    expect(found("shop")?.app).toMatchObject({ entrypoint: "app/index.html", env: { PUBLIC_A: "1" }, memory: 128 * 1024 ** 2 });
  });

  test("a folder without metadata, a hidden one and a link that leads out are no plugins", async () => {
    await writeFiles(fixture.root, { "outside/manifest.yaml": "name: outside\n" });
    await writeFiles(fixture.uploads, { "notes/readme.md": "", ".hidden/manifest.yaml": "name: hidden\n", "plugin.js": "" });
    await symlink(path.join(fixture.root, "outside"), inUploads("outside"));

    expect(names()).toEqual([]);
  });

  test.for([
    ["broken YAML", { "manifest.yaml": "name: [" }, "not valid YAML"],
    ["broken JSON", { "package.json": "{" }, "package.json"],
    ["no name", { "manifest.yaml": "base: /x" }, "no name"],
    ["a bad base", { "manifest.yaml": "name: bad\nversion: 1.0.0\nbase: /a/b" }, "base"],
    ["a reserved base", { "manifest.yaml": "name: bad\nbase: /api" }, "/api"],
    ["a flag that is no flag", { "manifest.yaml": "name: bad\nenabled: 'no'" }, "enabled"],
    ["an app that asks for too much", { "manifest.yaml": "name: bad\nentrypoint: a.js\npermissions: [addons]" }, "not given"],
  ] as const)("with %s it is listed with its problem, and the others are not affected", async ([, files, problem]) => {
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

  test("a reserved name is a problem when somebody put it there by hand, not when it is built in", async () => {
    await writeFiles(fixture.uploads, { "api/manifest.yaml": "name: api\n" });
    await writeFiles(fixture.builtIn, { "cpanel/manifest.yaml": "name: cpanel\n" });

    expect(found("api")?.problem).toContain("taken by the runtime");
    expect(found("cpanel")).not.toHaveProperty("problem");
  });

  test("of two with the same name the first directory's counts, within one the folder of that name", async () => {
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

  test("a change by hand shows at once; the hash tells changes from toggles and comments", async () => {
    const write = (text: string) => writeFiles(fixture.uploads, { "guard/manifest.yaml": `name: guard\n${text}` });
    await write("limit: 1\n");
    const first = found("guard")?.manifestHash;
    await write("limit: 1 # of many\nenabled: false\n");
    expect(found("guard")).toMatchObject({ enabled: false, manifestHash: first });
    await write("limit: 2\n");
    expect(found("guard")?.manifestHash).not.toBe(first);
  });
});

describe("switching on and off", () => {
  test("the flag is turned in the manifest, every other byte stays", async () => {
    const text = "# ours\nname: guard # the guard\nenabled: true # for now\n\nlimit: 0x10\n";
    await writeFiles(fixture.uploads, { "guard/manifest.yml": text, "guard/plugin.js": "1" });

    await fixture.packages.setEnabled("guard", false);
    expect(await readFile(inUploads("guard/manifest.yml"), "utf8")).toBe(text.replace("true", "false"));
    expect(found("guard")?.enabled).toBe(false);
    await fixture.packages.setEnabled("guard", true);
    expect(await readFile(inUploads("guard/manifest.yml"), "utf8")).toBe(text);
    await onlyFolders("guard");
  });

  test("50 toggles of one plugin at once end as the last one says", async () => {
    await writeFiles(fixture.uploads, { "guard/manifest.yaml": "# ours\nname: guard\n" });
    await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.packages.setEnabled("guard", index % 2 === 0)));
    expect(await readFile(inUploads("guard/manifest.yaml"), "utf8")).toBe("# ours\nenabled: false\nname: guard\n");
  });

  test.for([
    ["an unknown plugin", "nothing", "PLUGIN_NOT_FOUND"],
    ["one with only a package.json", "npm", "PLUGIN_MANIFEST_NOT_FOUND"],
    ["one whose manifest cannot be read", "broken", "INVALID_PACKAGE_METADATA"],
  ] as const)("%s is refused and nothing changes", async ([, name, code]) => {
    await writeFiles(fixture.uploads, { "npm/package.json": '{"name":"npm"}', "broken/manifest.yaml": "name: [" });
    const before = await treeLines(fixture.root);

    for (const enabled of [true, false]) await expect(fixture.packages.setEnabled(name, enabled)).rejects.toMatchObject({ code });

    expect(await treeLines(fixture.root)).toEqual(before);
  });
});

describe("removing", () => {
  test("the plugin goes with its empty scope folder, and what runs from it is retired", async () => {
    await fixture.install({ "manifest.yaml": "name: '@team/guard'\n", "plugin.js": "1" });

    await fixture.packages.remove("@team/guard");

    expect(names()).toEqual([]);
    expect(fixture.retirements).toEqual([{ folder: inUploads("@team/guard"), movedTo: expect.stringContaining(".staging") as string }]);
    await onlyFolders();
  });

  test("an unknown or a built-in one is refused", async () => {
    await writeFiles(fixture.builtIn, { "shipped/manifest.yaml": "name: shipped\n" });
    await expect(fixture.packages.remove("nothing")).rejects.toMatchObject({ code: "PLUGIN_NOT_FOUND" });
    await expect(fixture.packages.remove("shipped")).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN" });
    expect(found("shipped")).toMatchObject({ source: "built-in", path: path.join(fixture.builtIn, "shipped") });
  });
});

describe("a manifest over a built-in plugin", () => {
  let shipped: string[];
  const builtInFolder = () => path.join(fixture.builtIn, "gateway");

  beforeEach(async () => {
    await writeFiles(fixture.builtIn, {
      "gateway/manifest.yaml": "name: gateway\nversion: 1.0.0\nenabled: false\nlimit: 10\nconfig: { cors: none, trust: [] }\n",
      "gateway/plugin.js": "1",
    });
    shipped = await treeLines(fixture.builtIn);
  });
  afterEach(async () => expect(await treeLines(fixture.builtIn)).toEqual(shipped));

  test("uploaded alone, its keys win, the code stays, and deleting it brings back what was shipped", async () => {
    const before = found("gateway");
    expect(before).toMatchObject({ enabled: false, source: "built-in", config: { limit: 10, cors: "none" } });

    const answer = await fixture.install({ "manifest.yaml": "name: gateway\nenabled: true\ncors: all\nbase: /gate\n" });

    expect(answer).toEqual({ name: "gateway", version: "1.0.0", installedAt: inUploads("gateway") });
    expect(fixture.packages.discover()).toMatchObject([
      {
        name: "gateway",
        version: "1.0.0",
        source: "uploaded",
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

  test("switching a built-in plugin makes one, which says no more than that", async () => {
    await fixture.packages.setEnabled("gateway", false);
    expect(readdirSync(fixture.uploads)).toEqual([]);

    await fixture.packages.setEnabled("gateway", true);

    expect(await readFile(inUploads("gateway/manifest.yaml"), "utf8")).toBe('name: "gateway"\nenabled: true\n');
    expect(found("gateway")).toMatchObject({ enabled: true, source: "uploaded", folder: builtInFolder(), version: "1.0.0" });
    await fixture.packages.setEnabled("gateway", false);
    expect(found("gateway")).toMatchObject({ enabled: false, source: "uploaded" });
    await fixture.reopen();
    expect(found("gateway")).toMatchObject({ enabled: false, source: "uploaded" });
    await onlyFolders("gateway");
  });

  test.for([
    ["a module", { "plugin.mjs": "1" }],
    ["an index module", { "index.js": "1" }],
    ["a module that its manifest names", { "lib/a.js": "1", "manifest.yaml": "name: gateway\npluginEntry: lib/a.js\n" }],
    ["an entrypoint", { "index.html": "1", "manifest.yaml": "name: gateway\nentrypoint: index.html\n" }],
  ] as const)("with %s it is code, which a built-in plugin does not take", async ([, files]) => {
    const packed = { "manifest.yaml": "name: gateway\n", ...files };
    await expect(fixture.install(packed)).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
    await writeFiles(inUploads("gateway"), packed);

    expect(found("gateway")).toMatchObject({ source: "built-in", folder: builtInFolder(), path: builtInFolder() });
    await expect(fixture.packages.remove("gateway")).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN" });
    await expect(fixture.packages.setEnabled("gateway", true)).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
  });

  test("with only a package.json it is none", async () => {
    const refused = fixture.install({ "package.json": '{"name":"gateway"}' });
    await expect(refused).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN" });
    expect(readdirSync(fixture.uploads)).toEqual([]);
  });

  test.for(["base: /api", "config: none", "enabled: maybe", "entrypoint: ../x"])("with %s it is refused", async (line) => {
    await expect(fixture.install({ "manifest.yaml": `name: gateway\n${line}\n` })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
    });
    expect(readdirSync(fixture.uploads)).toEqual([]);
  });

  test("one that cannot be read is a problem, and the plugin is not used without it", async () => {
    await writeFiles(fixture.uploads, { "gateway/manifest.yaml": "name: [" });
    expect(found("gateway")).toMatchObject({ source: "uploaded", problem: expect.stringContaining("YAML") as string });
    await fixture.packages.remove("gateway");
    expect(found("gateway")).toMatchObject({ source: "built-in" });
  });

  test("a dot folder is part of the image: its plugins are laid over the same way", async () => {
    const image = path.join(fixture.root, ".image");
    await writeFiles(image, { "tool/manifest.yaml": "name: tool\n", "tool/index.mjs": "1" });
    Object.assign(fixture.options, { directories: [fixture.uploads, image] });
    await fixture.reopen();

    await fixture.install({ "manifest.yaml": "name: tool\nlimit: 1\n" });

    expect(found("tool")).toMatchObject({ folder: path.join(image, "tool"), path: inUploads("tool"), config: { limit: 1 } });
  });
});

test("a change that a crash interrupted is finished when the room opens", async () => {
  await writeFiles(fixture.uploads, {
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    ".staging/one/content/package/manifest.yaml": "name: guard\nversion: 2.0.0\n",
    ".staging/one/journal.json": JSON.stringify({
      moves: [
        { from: "guard", to: ".staging/one/replaced" },
        { from: ".staging/one/content/package", to: "guard" },
      ],
    }),
    ".staging/two/content/package/manifest.yaml": "name: half\n",
  });

  const packages = await PluginPackages.open(fixture.options);

  expect(packages.discover()).toMatchObject([{ name: "guard", version: "2.0.0" }]);
  await onlyFolders("guard");
  await packages.close();
});
