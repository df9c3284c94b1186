import { execFile } from "node:child_process";
import { readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { collectGarbage } from "../../support/collect-garbage.js";
import { PluginFixture, told } from "./plugin-fixture.js";

/** Tells of each step of its life. */
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

describe("a reload", () => {
  test("loads what is there in the order of dependencies, and ends it in reverse", async () => {
    const house = await PluginFixture.open();
    await house.add("a", diary("a"), { manifest: { dependencies: ["b"], optionalDependencies: ["absent"] } });
    await house.add("b", diary("b"), { manifest: { optionalDependencies: ["c"] } });
    await house.add("c", diary("c"), { config: { say: "hello" } });
    expect(await house.load()).toEqual({ a: true, b: true, c: true });
    expect(house.names).toEqual(["c", "b", "a"]);
    expect(told()).toEqual(["import c", "init c hello", "import b", "init b ", "import a", "init a "]);
    told().length = 0;
    await house.plugins.close();
    expect(told()).toEqual(["shutdown a", "shutdown b", "shutdown c"]);
    expect(house.plugins.set.isTransparent).toBe(true);
  });

  test("keeps what did not change, and makes it again when that is asked for", async () => {
    const house = await PluginFixture.open();
    await house.add("kept", diary("kept"));
    await house.add("changed", diary("changed"));
    await house.load();
    told().length = 0;
    await house.add("changed", `${diary("changed")}\n// another`);
    await house.load();
    expect(told()).toEqual(["import changed", "init changed ", "shutdown changed"]);
    told().length = 0;
    await house.load({ fresh: true });
    expect(told().toSorted()).toEqual(["init changed ", "init kept ", "shutdown changed", "shutdown kept"].toSorted());
  });

  test("begins the next one before it ends the one before, and swaps them at once", async () => {
    const house = await PluginFixture.open();
    await house.add("a", diary("a"));
    await house.load();
    const [before] = house.plugins.set.plugins;
    told().length = 0;
    const reloading = house.load({ fresh: true });
    expect(house.plugins.set.plugins[0]).toBe(before);
    await reloading;
    expect(house.plugins.set.plugins[0]).not.toBe(before);
    expect(told()).toEqual(["init a ", "shutdown a"]);
  });

  test("makes a plugin again when one that it depends on is another", async () => {
    const house = await PluginFixture.open();
    await house.add("base", diary("base"));
    await house.add("user", diary("user"), { manifest: { dependencies: ["base"] } });
    await house.load();
    told().length = 0;
    await house.add("base", `${diary("base")}//2`);
    await house.load();
    expect(told()).toEqual(["import base", "init base ", "init user ", "shutdown user", "shutdown base"]);
  });

  test("begins an object again in its place when its manifest changed, and leaves it alone otherwise", async () => {
    const house = await PluginFixture.open();
    const object = `export default {
      onInit(ctx) { globalThis.told.push("init " + ctx.config.say); }, onShutdown() { globalThis.told.push("shutdown"); } };`;
    await house.add("object", object, { config: { say: "one" } });
    await house.load();
    await house.load({ fresh: true });
    expect(told()).toEqual(["init one"]);
    house.change("object", { config: { say: "two" }, manifestHash: "another" });
    await house.load();
    expect(told()).toEqual(["init one", "shutdown", "init two"]);
  });

  test("sees changes of files that the module imports, and gives each plugin modules of its own", async () => {
    const house = await PluginFixture.open();
    await house.add("one", inTwoFiles("first"));
    await house.add("two", inTwoFiles("first"));
    await house.load();
    const [one, two] = house.plugins.set.plugins;
    expect(one?.hooks.provides?.()).toBe("first");
    expect(one?.hooks).not.toBe(two?.hooks);
    await house.add("one", inTwoFiles("second"));
    await house.load();
    expect(house.plugins.set.plugins.map(({ hooks }) => hooks.provides?.())).toEqual(["second", "first"]);
  });

  test("takes links as npm makes them, and passes over what is no file", async () => {
    const house = await PluginFixture.open();
    await house.add("linked", {
      "plugin.js": `export { default } from "dependency";`,
      "packages/dependency/index.js": `export default { provides: () => "through a link" };`,
      "node_modules/tool/run.js": "",
      "node_modules/.bin/readme": "",
    });
    const modules = path.join(house.directory, "linked", "node_modules");
    await symlink("../tool/run.js", path.join(modules, ".bin", "tool"));
    await symlink("../packages/dependency", path.join(modules, "dependency"));
    await symlink("nowhere", path.join(modules, "dangling"));
    await symlink(".", path.join(modules, "circle"));
    await promisify(execFile)("mkfifo", [path.join(modules, "pipe")]);
    expect(await house.load()).toEqual({ linked: true });
    expect(house.plugins.set.plugins[0]?.hooks.provides?.()).toBe("through a link");
  });

  test("sees changes in a folder that a link leads to", async () => {
    const house = await PluginFixture.open();
    await house.add("real", inTwoFiles("first"));
    const link = path.join(house.directory, "link");
    await symlink("real", link);
    house.change("real", { folder: link });
    await house.load();
    await writeFile(path.join(link, "lib", "part.js"), inTwoFiles("second")["lib/part.js"]);
    await house.load();
    expect(house.plugins.set.plugins[0]?.hooks.provides?.()).toBe("second");
  });

  test("does not hold up the end, however many wait for their turn", async () => {
    const house = await PluginFixture.open();
    await house.add("one", diary("one"));
    await house.add("slow", `export default () => ({ onInit: () => new Promise((resolve) => setTimeout(resolve, 100)) });`);
    const loads = Array.from({ length: 100 }, () => house.load({ fresh: true }));
    const startedAt = performance.now();
    await setTimeout(10);
    await house.plugins.close();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await Promise.all(loads);
    expect(told().filter((line) => line.startsWith("init")).length).toBe(told().filter((line) => line.startsWith("shutdown")).length);
    expect(house.names).toEqual([]);
  });

  test("runs one at a time, in the order in which they were asked for", async () => {
    const house = await PluginFixture.open();
    await house.add(
      "slow",
      `let at = 0; export default () => ({ async onInit() { at += 1; globalThis.told.push("in " + at);
        await new Promise((resolve) => setTimeout(resolve, 20)); globalThis.told.push("out " + at); at -= 1; } });`,
    );
    await Promise.all([house.load({ fresh: true }), house.load({ fresh: true }), house.load({ fresh: true })]);
    expect(told()).toEqual(["in 1", "out 1", "in 1", "out 1", "in 1", "out 1"]);
  });

  test("leaves the set as it was when the directories cannot be read", async () => {
    const house = await PluginFixture.open();
    await house.add("a", diary("a"));
    await house.load();
    const { set } = house.plugins;
    const spy = vi.spyOn(Array.prototype, "toSorted").mockImplementationOnce(() => {
      throw new Error("the disk is gone");
    });
    await expect(house.load()).rejects.toThrow("the disk is gone");
    spy.mockRestore();
    expect(house.plugins.set).toBe(set);
    expect(await house.load()).toEqual({ a: true });
  });

  test("tells plugins that come later that the server has started", async () => {
    const house = await PluginFixture.open();
    await house.add("early", diary("early"));
    await house.load();
    await house.plugins.serverStarted({ address: "http://127.0.0.1:1" });
    await house.add("late", diary("late"));
    await house.load();
    expect(told().filter((line) => line.startsWith("start"))).toEqual(["start early http://127.0.0.1:1", "start late http://127.0.0.1:1"]);
  });

  test("imports unchanged code once, however often, and keeps few copies of what is used no more", async () => {
    const house = await PluginFixture.open();
    await house.add("a", diary("a"));
    for (let count = 0; count < 20; count += 1) {
      house.change("a", { enabled: count % 2 === 0 });
      await house.load({ fresh: true });
    }
    expect(told().filter((line) => line.startsWith("import"))).toEqual(["import a"]);
    house.change("a", { enabled: true });
    for (let count = 0; count < 30; count += 1) {
      await house.add("a", `${diary("a")}//${count}`);
      await house.load();
    }
    const copies = (await readdir(path.join(house.directory, "code"))).filter((name) => name !== "node_modules");
    expect(copies.length).toBeLessThanOrEqual(11);
  });

  test("does not grow memory with 200 reloads of unchanged code", async () => {
    const house = await PluginFixture.open();
    await house.add("big", `const held = new Array(50_000).fill("x".repeat(20)); export default () => ({ provides: () => [...held] });`);
    for (let count = 0; count < 20; count += 1) await house.load({ fresh: true });
    const before = heapBytes();
    for (let count = 0; count < 200; count += 1) await house.load({ fresh: true });
    expect(heapBytes() - before).toBeLessThan(20 * 1024 * 1024);
  });
});

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
