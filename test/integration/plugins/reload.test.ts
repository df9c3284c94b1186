import { execFile } from "node:child_process";
import { readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { collectGarbage } from "../../support/collect-garbage.js";
import { PluginFixture, told } from "./plugin-fixture.js";

/** A plugin that records each step of its lifecycle. */
const diary = (name: string) => `
  globalThis.told.push("import ${name}");
  export default (config) => ({
    onInit() { globalThis.told.push("init ${name} " + (config.say ?? "")); },
    onShutdown() { globalThis.told.push("shutdown ${name}"); },
    onServerStart({ address }) { globalThis.told.push("start ${name} " + address); },
    provides: () => "from ${name}",
  });`;

const inTwoFiles = (text: string) => ({
  "plugin.js": `export { default } from "./lib/part.js";`,
  "lib/part.js": `export default { provides: () => "${text}" };`,
});

describe("a reload of plugins", () => {
  test("loads plugins after their dependencies, and stops them in the reverse order", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", diary("a"), { manifest: { dependencies: ["b"], optionalDependencies: ["absent"] } });
    await fixture.add("b", diary("b"), { manifest: { optionalDependencies: ["c"] } });
    await fixture.add("c", diary("c"), { config: { say: "hello" } });
    expect(await fixture.load()).toEqual({ a: true, b: true, c: true });
    expect(fixture.names).toEqual(["c", "b", "a"]);
    expect(told()).toEqual(["import c", "init c hello", "import b", "init b ", "import a", "init a "]);
    told().length = 0;
    await fixture.plugins.close();
    expect(told()).toEqual(["shutdown a", "shutdown b", "shutdown c"]);
    expect(fixture.plugins.set.isTransparent).toBe(true);
  });

  test("keeps unchanged plugins, or recreates all plugins when `fresh` is set", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("kept", diary("kept"));
    await fixture.add("changed", diary("changed"));
    await fixture.load();
    told().length = 0;
    await fixture.add("changed", `${diary("changed")}\n// another`);
    await fixture.load();
    expect(told()).toEqual(["import changed", "init changed ", "shutdown changed"]);
    told().length = 0;
    await fixture.load({ fresh: true });
    expect(told().toSorted()).toEqual(["init changed ", "init kept ", "shutdown changed", "shutdown kept"].toSorted());
  });

  test("starts the new plugin before the old plugin stops", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", diary("a"));
    await fixture.load();
    const [before] = fixture.plugins.set.plugins;
    told().length = 0;
    const reloading = fixture.load({ fresh: true });
    expect(fixture.plugins.set.plugins[0]).toBe(before);
    await reloading;
    expect(fixture.plugins.set.plugins[0]).not.toBe(before);
    expect(told()).toEqual(["init a ", "shutdown a"]);
  });

  test("recreates a plugin when one of its dependencies changed", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("base", diary("base"));
    await fixture.add("user", diary("user"), { manifest: { dependencies: ["base"] } });
    await fixture.load();
    told().length = 0;
    await fixture.add("base", `${diary("base")}//2`);
    await fixture.load();
    expect(told()).toEqual(["import base", "init base ", "init user ", "shutdown user", "shutdown base"]);
  });

  test("restarts a plugin without importing its code when only the manifest changed", async () => {
    const fixture = await PluginFixture.open();
    const object = `export default {
      onInit(ctx) { globalThis.told.push("init " + ctx.config.say); }, onShutdown() { globalThis.told.push("shutdown"); } };`;
    await fixture.add("object", object, { config: { say: "one" } });
    await fixture.load();
    await fixture.load({ fresh: true });
    expect(told()).toEqual(["init one"]);
    fixture.change("object", { config: { say: "two" }, manifestHash: "another" });
    await fixture.load();
    expect(told()).toEqual(["init one", "shutdown", "init two"]);
  });

  test("detects changes of imported files, and loads separate modules for each plugin", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("one", inTwoFiles("first"));
    await fixture.add("two", inTwoFiles("first"));
    await fixture.load();
    const [one, two] = fixture.plugins.set.plugins;
    expect(one?.hooks.provides?.()).toBe("first");
    expect(one?.hooks).not.toBe(two?.hooks);
    await fixture.add("one", inTwoFiles("second"));
    await fixture.load();
    expect(fixture.plugins.set.plugins.map(({ hooks }) => hooks.provides?.())).toEqual(["second", "first"]);
  });

  test("follows links in node_modules, and ignores pipes, broken links and link cycles", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("linked", {
      "plugin.js": `export { default } from "dependency";`,
      "packages/dependency/index.js": `export default { provides: () => "through a link" };`,
      "node_modules/tool/run.js": "",
      "node_modules/.bin/readme": "",
    });
    const modules = path.join(fixture.directory, "linked", "node_modules");
    await symlink("../tool/run.js", path.join(modules, ".bin", "tool"));
    await symlink("../packages/dependency", path.join(modules, "dependency"));
    await symlink("nowhere", path.join(modules, "dangling"));
    await symlink(".", path.join(modules, "circle"));
    await promisify(execFile)("mkfifo", [path.join(modules, "pipe")]);
    expect(await fixture.load()).toEqual({ linked: true });
    expect(fixture.plugins.set.plugins[0]?.hooks.provides?.()).toBe("through a link");
  });

  test("detects changes in the folder to which a plugin folder links", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("real", inTwoFiles("first"));
    const link = path.join(fixture.directory, "link");
    await symlink("real", link);
    fixture.change("real", { folder: link });
    await fixture.load();
    await writeFile(path.join(link, "lib", "part.js"), inTwoFiles("second")["lib/part.js"]);
    await fixture.load();
    expect(fixture.plugins.set.plugins[0]?.hooks.provides?.()).toBe("second");
  });

  test("delays a shutdown by at most 2 s while 100 reloads wait", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("one", diary("one"));
    await fixture.add("slow", `export default () => ({ onInit: () => new Promise((resolve) => setTimeout(resolve, 100)) });`);
    const loads = Array.from({ length: 100 }, () => fixture.load({ fresh: true }));
    const startedAt = performance.now();
    await setTimeout(10);
    await fixture.plugins.close();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await Promise.all(loads);
    expect(told().filter((line) => line.startsWith("init")).length).toBe(told().filter((line) => line.startsWith("shutdown")).length);
    expect(fixture.names).toEqual([]);
  });

  test("starts after all earlier reloads are complete", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add(
      "slow",
      `let at = 0; export default () => ({ async onInit() { at += 1; globalThis.told.push("in " + at);
        await new Promise((resolve) => setTimeout(resolve, 20)); globalThis.told.push("out " + at); at -= 1; } });`,
    );
    await Promise.all([fixture.load({ fresh: true }), fixture.load({ fresh: true }), fixture.load({ fresh: true })]);
    expect(told()).toEqual(["in 1", "out 1", "in 1", "out 1", "in 1", "out 1"]);
  });

  test("keeps the loaded plugins when the plugin directories cannot be read", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", diary("a"));
    await fixture.load();
    const { set } = fixture.plugins;
    const spy = vi.spyOn(Array.prototype, "toSorted").mockImplementationOnce(() => {
      throw new Error("the disk is gone");
    });
    await expect(fixture.load()).rejects.toThrow("the disk is gone");
    spy.mockRestore();
    expect(fixture.plugins.set).toBe(set);
    expect(await fixture.load()).toEqual({ a: true });
  });

  test("calls onServerStart of plugins that load while the server is running", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("early", diary("early"));
    await fixture.load();
    await fixture.plugins.serverStarted({ address: "http://127.0.0.1:1" });
    await fixture.add("late", diary("late"));
    await fixture.load();
    expect(told().filter((line) => line.startsWith("start"))).toEqual(["start early http://127.0.0.1:1", "start late http://127.0.0.1:1"]);
  });

  test("imports unchanged code once, and keeps at most 11 copies of old code in memory", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", diary("a"));
    for (let count = 0; count < 20; count += 1) {
      fixture.change("a", { enabled: count % 2 === 0 });
      await fixture.load({ fresh: true });
    }
    expect(told().filter((line) => line.startsWith("import"))).toEqual(["import a"]);
    fixture.change("a", { enabled: true });
    for (let count = 0; count < 30; count += 1) {
      await fixture.add("a", `${diary("a")}//${count}`);
      await fixture.load();
    }
    const copies = (await readdir(path.join(fixture.directory, "code"))).filter((name) => name !== "node_modules");
    expect(copies.length).toBeLessThanOrEqual(11);
  });

  test("does not increase memory after 200 reloads of unchanged code", async () => {
    const fixture = await PluginFixture.open();
    const code = `const held = new Array(50_000).fill("x".repeat(20));
      export default () => ({ onInit(context) { this.context = context; }, provides: () => [...held] });`;
    await fixture.add("big", code);
    for (let count = 0; count < 20; count += 1) await fixture.load({ fresh: true });
    const before = heapBytes();
    for (let count = 0; count < 200; count += 1) await fixture.load({ fresh: true });
    expect(heapBytes() - before).toBeLessThan(20 * 1024 * 1024);
  });
});

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
