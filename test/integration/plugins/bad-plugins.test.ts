import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PluginFixture, told } from "./plugin-fixture.js";

const good = `export default { onRequest() {}, provides: () => "good" };`;

/** Each plugin fails to load with its reason, while the valid plugin beside it is loaded. */
const badCode: Readonly<Record<string, readonly [code: string | Record<string, string>, reason: string]>> = {
  "has a syntax error": ["export default {;", 'syntax error in plugin.js:1:17: Expected identifier but found ";"'],
  "has a syntax error in an imported file": [
    { "plugin.js": `export { default } from "./lib/part.js";`, "lib/part.js": "export default {\n  a: 1,,\n};" },
    "syntax error in lib/part.js:2:8:",
  ],
  "throws at import": ["throw new Error('no luck');", "no luck (plugin.js:1:7)"],
  "throws a string": ["throw 'a string';", "the plugin threw a string"],
  "throws a value that cannot be printed": ["throw Object.create(null);", "the plugin threw a value that cannot be described"],
  "throws an error that cannot be read": [
    "throw Object.defineProperty(new Error(), 'message', { get() { throw new Error('a trap'); } });",
    "the plugin threw a value that cannot be described",
  ],
  "exports a promise": ["export default Promise.resolve({});", "the module exports a promise instead of an object with hooks"],
  "exports a thenable that never settles": [
    "export default { then() {} };",
    "the module exports a promise instead of an object with hooks",
  ],
  "imports a missing file": [`import "./missing.js"; export default {};`, "Cannot find module 'missing.js' imported from plugin.js"],
  "imports a missing package": [`import "no-such-package"; export default {};`, "Cannot find package 'no-such-package'"],
  "exports a number": ["export default 7;", "the module exports a number instead of an object with hooks"],
  "misspells a hook": ["export default { onRequets() {} };", "onRequets is not a hook. Did you mean onRequest?"],
  "exports null": ["export default null;", "the module exports null instead of an object with hooks"],
  "exports an array": ["export default [];", "the module exports an array"],
  "has a factory that throws": ["export default () => { throw new RangeError('too far'); };", "RangeError: too far (plugin.js:1:30)"],
  "has a factory that rejects": ["export default async () => { throw new Error('later'); };", "later (plugin.js:1:36)"],
  "has a factory that returns a string": [
    "export default () => 'rubbish';",
    "the factory returned a string instead of an object with hooks",
  ],
  "has a factory that returns undefined": ["export default () => {};", "the factory returned undefined"],
  "has a hook that is not a function": ["export default { onRequest: 'yes' };", "onRequest is a string instead of a function"],
  "has routes without fetch": ["export default { routes: {} };", "routes has no function fetch"],
  "has server routes that are not an object": [
    "export default { server: { routes: 3 } };",
    "server.routes is a number instead of an object",
  ],
  "has a server that is null": ["export default { server: null };", "server is null instead of an object"],
  "throws in onInit": ["export default { onInit() { throw new Error('not ready'); } };", "not ready (plugin.js:1:"],
  "rejects in onInit": ["export default { async onInit() { throw new Error('not ready'); } };", "not ready (plugin.js:1:"],
  "throws in provides": ["export default { provides() { throw new Error('nothing'); } };", "nothing (plugin.js:1:37)"],
  "throws in a getter": ["export default { get onRequest() { throw new Error('a trap'); } };", "a trap (plugin.js:1:"],
  "has no module": [{ "readme.txt": "nothing" }, "The plugin has nothing to load: add a module such as plugin.js"],
  "has routes and no base": [
    "export default { routes: { fetch() {} } };",
    "The plugin has routes, but its manifest sets no base. Set `base` in the manifest",
  ],
};

afterEach(() => {
  vi.useRealTimers();
});

describe("a plugin that fails to load", () => {
  test.each(Object.entries(badCode))("is listed with the reason (the plugin %s)", async (_what, [code, reason]) => {
    const fixture = await PluginFixture.open();
    await fixture.add("bad", code);
    await fixture.add("good", good);
    const report = await fixture.load();
    expect(report["bad"]).toContain(reason);
    expect(report["good"]).toBe(true);
    expect(fixture.names).toEqual(["good"]);
    expect(fixture.log.some(({ plugin, reason: logged }) => plugin === "bad" && String(logged).includes(reason))).toBe(true);
    expect(report["bad"]).not.toContain(fixture.directory);
  });

  test.each([
    ["onInit", "onInit() { globalThis.told.push('opened'); throw new Error('half way'); }"],
    ["provides", "onInit() { globalThis.told.push('opened'); }, provides() { throw new Error('half way'); }"],
  ])("runs its onShutdown hook when the hook %s throws", async (_what, hook) => {
    const fixture = await PluginFixture.open();
    await fixture.add("bad", `export default () => ({ ${hook}, onShutdown() { globalThis.told.push("closed"); } });`);
    await fixture.add("good", good);
    expect(await fixture.load()).toEqual({ bad: expect.stringMatching(/^half way \(plugin\.js:1:\d+\)$/) as string, good: true });
    expect(told()).toEqual(["opened", "closed"]);
    expect(fixture.names).toEqual(["good"]);
  });

  test.each([
    ["the import", "globalThis.told.push('begun'); await new Promise(() => {}); export default {};"],
    ["the factory", "export default () => { globalThis.told.push('begun'); return new Promise(() => {}); };"],
    ["onInit", "export default { onInit: () => { globalThis.told.push('begun'); return new Promise(() => {}); } };"],
  ])("is listed as failed after 30 s when a step of the load never ends (step: %s)", async (what, code) => {
    const fixture = await PluginFixture.open();
    await fixture.add("bad", code);
    await fixture.add("good", good);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const loading = fixture.load();
    while (!told().includes("begun")) await setImmediate();
    await vi.advanceTimersByTimeAsync(30_000);
    vi.useRealTimers();
    const report = await loading;
    expect(report["bad"]?.toString().toLowerCase()).toContain(`${what.toLowerCase()} did not finish within 30 s`);
    expect(fixture.names).toEqual(["good"]);
  });

  test("prevents the load of plugins that require it, and of no other plugin", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("broken", "throw new Error('broken');");
    await fixture.add("child", good, { manifest: { dependencies: ["broken"] } });
    await fixture.add("friend", good, { manifest: { optionalDependencies: ["broken"] } });
    await fixture.add("grandchild", good, { manifest: { dependencies: ["child"] } });
    expect(await fixture.load()).toEqual({
      broken: "broken (plugin.js:1:7)",
      child: "The required plugin broken failed to load",
      friend: true,
      grandchild: "The required plugin child failed to load",
    });
  });

  test("is listed with the required plugin that is missing, disabled or invalid", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", good, { manifest: { dependencies: ["nowhere"] } });
    await fixture.add("b", good, { manifest: { dependencies: ["off"] } });
    await fixture.add("c", good, { manifest: { dependencies: ["@team/unusable"] } });
    await fixture.add("d", good, { manifest: { dependencies: ["a"] } });
    await fixture.add("off", good, { enabled: false });
    await fixture.add("@team/unusable", good, { problem: "Its manifest cannot be read." });
    expect(await fixture.load()).toEqual({
      "@team/unusable": "Its manifest cannot be read.",
      a: "The required plugin nowhere is not installed.",
      b: "The required plugin off is disabled.",
      c: "The required plugin @team/unusable failed to load.",
      d: "The required plugin a failed to load.",
      off: undefined,
    });
  });

  test("is listed with the cycle of required or optional dependencies that contains it", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("a", good, { manifest: { dependencies: ["b"] } });
    await fixture.add("b", good, { manifest: { optionalDependencies: ["c"] } });
    await fixture.add("c", good, { manifest: { dependencies: ["a"] } });
    await fixture.add("d", good, { manifest: { dependencies: ["c"] } });
    await fixture.add("self", good, { manifest: { dependencies: ["self"] } });
    await fixture.add("free", good);
    expect(await fixture.load()).toEqual({
      a: "The plugin is part of a dependency cycle: a → b → c → a.",
      b: "The plugin is part of a dependency cycle: b → c → a → b.",
      c: "The plugin is part of a dependency cycle: c → a → b → c.",
      d: "The plugin depends on a dependency cycle: c → a → b → c.",
      free: true,
      self: "The plugin is part of a dependency cycle: self → self.",
    });
  });

  test("is listed with its base path when the path is reserved or already used", async () => {
    const fixture = await PluginFixture.open();
    const served = `export default { routes: { fetch: () => new Response("served") } };`;
    await fixture.add("shop", served, { manifest: { base: "/shop" } });
    await fixture.add("a", served, { manifest: { base: "/api" } });
    await fixture.add("b", served, { manifest: { base: "/cpanel" } });
    await fixture.load();
    await fixture.add("another", served, { manifest: { base: "/shop" } });
    expect(await fixture.load()).toEqual({
      a: "The base /api is reserved for the daemon. Choose another base.",
      another: "The base /shop is in use by the plugin shop. Choose another base.",
      b: "The base /cpanel is reserved for the daemon. Choose another base.",
      shop: true,
    });
    fixture.change("shop", { enabled: false });
    expect((await fixture.load())["another"]).toBe(true);
  });

  test.each(["/api/keys", "/api", "/cpanel/x", "/.well-known/runtime", "/_/api/keys", "/shop/cart"])(
    "is listed with its server route when the route is reserved (route: %s)",
    async (pattern) => {
      const fixture = await PluginFixture.open();
      await fixture.add("evil", `export default { server: { routes: { ${JSON.stringify(pattern)}: () => new Response("mine") } } };`);
      await fixture.add("shop", `export default { routes: { fetch: () => new Response("shop") } };`, { manifest: { base: "/shop" } });
      const report = await fixture.load();
      expect(report["evil"]).toContain(`The server route ${pattern} is below`);
      expect(fixture.names).toEqual(["shop"]);
    },
  );

  test("loads at the next reload after its code is repaired", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("bad", "export default {;");
    await fixture.load();
    expect(fixture.plugins.statusOf({ name: "bad", enabled: true } as never)).toMatchObject({ status: "failed" });
    await fixture.add("bad", good);
    expect(await fixture.load()).toEqual({ bad: true });
  });

  test("is unloaded by a reload even if the onShutdown hook throws", async () => {
    const fixture = await PluginFixture.open();
    await fixture.add("bad", `export default { onShutdown() { throw new Error("never"); } };`);
    await fixture.load();
    fixture.remove("bad");
    expect(await fixture.load()).toEqual({});
    expect(fixture.gone).toEqual(["bad"]);
    expect(fixture.log.some(({ hook }) => hook === "onShutdown")).toBe(true);
  });
});
