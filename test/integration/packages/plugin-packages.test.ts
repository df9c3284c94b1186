import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { entriesOf } from "../../support/entries-of.js";
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
const onlyFolders = (...folders: string[]) => expect.poll(() => entriesOf(fixture.uploads)).toEqual(folders);
const plugin = (manifest: string) => ({ "manifest.yaml": manifest, "plugin.js": "new" });

describe("the install of a plugin", () => {
  test("stores the plugin in a folder named after the plugin, in the folder of the scope", async () => {
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

  test("replaces all files of an installed plugin, even with a lower version", async () => {
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 1.0.0\n", "plugin.js": "1", "old.js": "1" });
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 0.9.0\n", "plugin.js": "2" });

    expect(readdirSync(inUploads("guard")).toSorted()).toEqual(["manifest.yaml", "plugin.js"]);
    expect(fixture.packages.discover()).toMatchObject([{ name: "guard", version: "0.9.0" }]);
    expect(fixture.retirements).toEqual([{ folder: inUploads("guard"), movedTo: expect.stringContaining(".staging") as string }]);
    await onlyFolders("guard");
  });

  test("keeps the old files until the plugin code that uses them has stopped", async () => {
    let done: (() => void) | undefined;
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
    done?.();
    await expect.poll(() => existsSync(movedTo)).toBe(false);
  });

  test("leaves one complete plugin after 20 concurrent installs of the plugin", async () => {
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

  test.for([
    ["a reserved name", plugin("name: cpanel"), "INVALID_PACKAGE_NAME", "cpanel"],
    ["a base of two segments", plugin("name: guard\nbase: /a/b"), "INVALID_PACKAGE_METADATA", "base"],
    ["a base without a slash", plugin("name: guard\nbase: guard"), "INVALID_PACKAGE_METADATA", "base"],
    ["the empty base", plugin("name: guard\nbase: /"), "INVALID_PACKAGE_METADATA", "base"],
    ["the base of the API", plugin("name: guard\nbase: /api"), "INVALID_PACKAGE_METADATA", "/api"],
    ["the base of the API's prefix", plugin("name: guard\nbase: /_"), "INVALID_PACKAGE_METADATA", "/_"],
    ["the base of the panel", plugin("name: guard\nbase: /cpanel"), "INVALID_PACKAGE_METADATA", "/cpanel"],
    ["the base of discovery", plugin("name: guard\nbase: /.well-known"), "INVALID_PACKAGE_METADATA", "base"],
    ["a module outside of its folder", plugin("name: guard\npluginEntry: ../other/plugin.js"), "INVALID_PACKAGE_METADATA", "pluginEntry"],
    ["a dependency with an invalid name", plugin("name: guard\ndependencies: ['../x']"), "INVALID_PACKAGE_METADATA", "dependencies"],
    ["dependencies in the form of npm", plugin("name: guard\ndependencies: { a: '1' }"), "INVALID_PACKAGE_METADATA", "dependencies"],
    ["a menu to another host", plugin("name: guard\nmenus: [{ title: x, path: //evil }]"), "INVALID_PACKAGE_METADATA", "menus"],
    [
      "a menu to another host when tabs are removed",
      plugin('name: guard\nmenus: [{ title: x, path: "/\\t/evil" }]'),
      "INVALID_PACKAGE_METADATA",
      "menus",
    ],
    ["a configuration that is not a mapping", plugin("name: guard\nconfig: [1]"), "INVALID_PACKAGE_METADATA", "config"],
    ["worker settings with an invalid limit", plugin("name: guard\nentrypoint: a.js\nmemory: lots"), "INVALID_PACKAGE_METADATA", "memory"],
    [
      "worker settings with a disallowed permission",
      plugin("name: guard\nentrypoint: a.js\npermissions: [addons]"),
      "INVALID_PACKAGE_METADATA",
      "not given",
    ],
    ["a built-in plugin's name", plugin("name: shipped"), "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN", "shipped"],
    ["a name with ..", plugin("name: ../guard"), "INVALID_PACKAGE_NAME", "guard"],
    ["an invalid version", plugin("name: guard\nversion: 1.0"), "INVALID_PACKAGE_VERSION", "1.0"],
    ["no name", plugin("version: 1.0.0"), "MISSING_PACKAGE_NAME", "name"],
  ] as const)("fails and changes nothing when the package has %s", async ([, files, code, word]) => {
    await writeFiles(fixture.builtIn, { "shipped/manifest.yaml": "name: shipped\n", "shipped/plugin.js": "1" });
    await fixture.install({ "manifest.yaml": "name: guard\nversion: 1.0.0\n", "plugin.js": "old" });
    const before = await treeLines(fixture.root);

    const refused = fixture.install(files);

    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(word) as string });
    expect(await treeLines(fixture.root)).toEqual(before);
    expect(fixture.retirements).toEqual([]);
  });

  test("fails and creates no file when the caller has no permission", async () => {
    const denied = new Error("denied");
    const refused = fixture.install(plugin("name: '@other/guard'\nbase: /api"), (name) => {
      expect(name).toBe("@other/guard");
      throw denied;
    });

    await expect(refused).rejects.toBe(denied);
    expect(entriesOf(fixture.uploads)).toEqual([]);
  });

  test("fails when no plugin directory is writable", async () => {
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

describe("the change that enables or disables a plugin", () => {
  test("writes only the value of `enabled` in the manifest", async () => {
    const text = "# ours\nname: guard # the guard\nenabled: true # for now\n\nlimit: 0x10\n";
    await writeFiles(fixture.uploads, { "guard/manifest.yml": text, "guard/plugin.js": "1" });

    await fixture.packages.setEnabled("guard", false);
    expect(await readFile(inUploads("guard/manifest.yml"), "utf8")).toBe(text.replace("true", "false"));
    expect(found("guard")?.enabled).toBe(false);
    await fixture.packages.setEnabled("guard", true);
    expect(await readFile(inUploads("guard/manifest.yml"), "utf8")).toBe(text);
    await onlyFolders("guard");
  });

  test("applies the last of 50 concurrent changes", async () => {
    await writeFiles(fixture.uploads, { "guard/manifest.yaml": "# ours\nname: guard\n" });
    await Promise.all(Array.from({ length: 50 }, (_, index) => fixture.packages.setEnabled("guard", index % 2 === 0)));
    expect(await readFile(inUploads("guard/manifest.yaml"), "utf8")).toBe("# ours\nenabled: false\nname: guard\n");
  });

  test.for([
    ["an unknown plugin", "nothing", "PLUGIN_NOT_FOUND"],
    ["a plugin with only a package.json", "npm", "PLUGIN_MANIFEST_NOT_FOUND"],
    ["a plugin whose manifest cannot be read", "broken", "INVALID_PACKAGE_METADATA"],
  ] as const)("fails and changes nothing for %s", async ([, name, code]) => {
    await writeFiles(fixture.uploads, { "npm/package.json": '{"name":"npm"}', "broken/manifest.yaml": "name: [" });
    const before = await treeLines(fixture.root);

    for (const enabled of [true, false]) await expect(fixture.packages.setEnabled(name, enabled)).rejects.toMatchObject({ code });

    expect(await treeLines(fixture.root)).toEqual(before);
  });
});

describe("the deletion of a plugin", () => {
  test("removes the plugin's folder and an empty scope folder", async () => {
    await fixture.install({ "manifest.yaml": "name: '@team/guard'\n", "plugin.js": "1" });

    await fixture.packages.remove("@team/guard");

    expect(names()).toEqual([]);
    expect(fixture.retirements).toEqual([{ folder: inUploads("@team/guard"), movedTo: expect.stringContaining(".staging") as string }]);
    await onlyFolders();
  });

  test("fails for an unknown or built-in plugin", async () => {
    await writeFiles(fixture.builtIn, { "shipped/manifest.yaml": "name: shipped\n" });
    await expect(fixture.packages.remove("nothing")).rejects.toMatchObject({ code: "PLUGIN_NOT_FOUND" });
    await expect(fixture.packages.remove("shipped")).rejects.toMatchObject({ code: "BUILT_IN_PLUGIN_REMOVE_FORBIDDEN" });
    expect(found("shipped")).toMatchObject({ source: "built-in", path: path.join(fixture.builtIn, "shipped") });
  });
});

test("a change of plugin files is completed when the daemon starts after a crash", async () => {
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

  await fixture.reopen();

  expect(fixture.packages.discover()).toMatchObject([{ name: "guard", version: "2.0.0" }]);
  await onlyFolders("guard");
});
