import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PluginFixture, told } from "./plugin-fixture.js";

const good = `export default { onRequest() {}, provides: () => "good" };`;

/** Each is left out with its reason, and the good one beside it is at work all the same. */
const badCode: Readonly<Record<string, readonly [code: string | Record<string, string>, reason: string]>> = {
  "has a syntax error": ["export default {;", 'Syntax error in plugin.js:1:17: Expected identifier but found ";".'],
  "has a syntax error in what it imports": [
    { "plugin.js": `export { default } from "./lib/part.js";`, "lib/part.js": "export default {\n  a: 1,,\n};" },
    "Syntax error in lib/part.js:2:8:",
  ],
  "throws at import": ["throw new Error('no luck');", "No luck."],
  "throws nothing that is an error": ["throw 'a string';", "It threw a string."],
  "throws what cannot be shown": ["throw Object.create(null);", "It threw something that cannot be shown."],
  "throws an error that cannot be read": [
    "throw Object.defineProperty(new Error(), 'message', { get() { throw new Error('a trap'); } });",
    "It threw something that cannot be shown.",
  ],
  "exports a promise": ["export default Promise.resolve({});", "Its module exports a promise, and not an object with hooks."],
  "exports what never settles": ["export default { then() {} };", "Its module exports a promise, and not an object with hooks."],
  "imports what is not there": [`import "./missing.js"; export default {};`, "Cannot find module 'missing.js' imported from plugin.js."],
  "imports a package that is not there": [`import "no-such-package"; export default {};`, "Cannot find package 'no-such-package'"],
  "exports a number": ["export default 7;", "Its module exports a number, and not an object with hooks."],
  "misspells a hook": ["export default { onRequets() {} };", "OnRequets is no hook; did you mean onRequest?"],
  "exports null": ["export default null;", "Its module exports null, and not an object with hooks."],
  "exports an array": ["export default [];", "Its module exports an array"],
  "has a factory that throws": ["export default () => { throw new RangeError('too far'); };", "RangeError: too far."],
  "has a factory that rejects": ["export default async () => { throw new Error('later'); };", "Later."],
  "has a factory that returns rubbish": ["export default () => 'rubbish';", "Its factory returned a string, and not an object with hooks."],
  "has a factory that returns nothing": ["export default () => {};", "Its factory returned undefined"],
  "has a hook that is no function": ["export default { onRequest: 'yes' };", "OnRequest is a string, and not a function."],
  "has routes without fetch": ["export default { routes: {} };", "Routes has no function fetch."],
  "has server routes that are no object": ["export default { server: { routes: 3 } };", "Server.routes is a number, and not an object."],
  "has a server that is null": ["export default { server: null };", "Server is null, and not an object."],
  "throws in onInit": ["export default { onInit() { throw new Error('not ready'); } };", "Not ready."],
  "rejects in onInit": ["export default { async onInit() { throw new Error('not ready'); } };", "Not ready."],
  "throws in provides": ["export default { provides() { throw new Error('nothing'); } };", "Nothing."],
  "throws in a getter": ["export default { get onRequest() { throw new Error('a trap'); } };", "A trap."],
  "has no module": [{ "readme.txt": "nothing" }, "It has neither a module (plugin.js, index.js) nor an entrypoint."],
  "has routes and no base": ["export default { routes: { fetch() {} } };", "It has routes, but its manifest names no base for them."],
};

afterEach(() => {
  vi.useRealTimers();
});

describe("a plugin is left out with its reason", () => {
  test.each(Object.entries(badCode))("when it %s", async (_what, [code, reason]) => {
    const house = await PluginFixture.open();
    await house.add("bad", code);
    await house.add("good", good);
    const report = await house.load();
    expect(report["bad"]).toContain(reason);
    expect(report["good"]).toBe(true);
    expect(house.names).toEqual(["good"]);
    expect(house.log.some(({ plugin, reason: logged }) => plugin === "bad" && String(logged).includes(reason))).toBe(true);
    expect(report["bad"]).not.toContain(house.directory);
  });

  test.each([
    ["onInit", "onInit() { globalThis.told.push('opened'); throw new Error('half way'); }"],
    ["provides", "onInit() { globalThis.told.push('opened'); }, provides() { throw new Error('half way'); }"],
  ])("when %s throws, and what it opened is closed", async (_what, hook) => {
    const house = await PluginFixture.open();
    await house.add("bad", `export default () => ({ ${hook}, onShutdown() { globalThis.told.push("closed"); } });`);
    await house.add("good", good);
    expect(await house.load()).toEqual({ bad: "Half way.", good: true });
    expect(told()).toEqual(["opened", "closed"]);
    expect(house.names).toEqual(["good"]);
  });

  test.each([
    ["its import", "globalThis.told.push('begun'); await new Promise(() => {}); export default {};"],
    ["its factory", "export default () => { globalThis.told.push('begun'); return new Promise(() => {}); };"],
    ["onInit", "export default { onInit: () => { globalThis.told.push('begun'); return new Promise(() => {}); } };"],
  ])("when %s never ends", async (what, code) => {
    const house = await PluginFixture.open();
    await house.add("bad", code);
    await house.add("good", good);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const loading = house.load();
    while (!told().includes("begun")) await setImmediate();
    await vi.advanceTimersByTimeAsync(30_000);
    vi.useRealTimers();
    const report = await loading;
    expect(report["bad"]?.toString().toLowerCase()).toContain(`${what.toLowerCase()} did not end within 30 s.`);
    expect(house.names).toEqual(["good"]);
  });

  test("with all that depend on it, and nothing else", async () => {
    const house = await PluginFixture.open();
    await house.add("broken", "throw new Error('broken');");
    await house.add("child", good, { manifest: { dependencies: ["broken"] } });
    await house.add("friend", good, { manifest: { optionalDependencies: ["broken"] } });
    await house.add("grandchild", good, { manifest: { dependencies: ["child"] } });
    expect(await house.load()).toEqual({
      broken: "Broken.",
      child: "It needs the plugin broken, which cannot be loaded.",
      friend: true,
      grandchild: "It needs the plugin child, which cannot be loaded.",
    });
  });

  test("when what it needs is not installed, disabled, or unusable", async () => {
    const house = await PluginFixture.open();
    await house.add("a", good, { manifest: { dependencies: ["nowhere"] } });
    await house.add("b", good, { manifest: { dependencies: ["off"] } });
    await house.add("c", good, { manifest: { dependencies: ["@team/unusable"] } });
    await house.add("d", good, { manifest: { dependencies: ["a"] } });
    await house.add("off", good, { enabled: false });
    await house.add("@team/unusable", good, { problem: "Its manifest cannot be read." });
    expect(await house.load()).toEqual({
      "@team/unusable": "Its manifest cannot be read.",
      a: "It needs the plugin nowhere, which is not installed.",
      b: "It needs the plugin off, which is disabled.",
      c: "It needs the plugin @team/unusable, which cannot be loaded.",
      d: "It needs the plugin a, which cannot be loaded.",
      off: undefined,
    });
  });

  test("when dependencies form a circle, optional ones too", async () => {
    const house = await PluginFixture.open();
    await house.add("a", good, { manifest: { dependencies: ["b"] } });
    await house.add("b", good, { manifest: { optionalDependencies: ["c"] } });
    await house.add("c", good, { manifest: { dependencies: ["a"] } });
    await house.add("d", good, { manifest: { dependencies: ["c"] } });
    await house.add("self", good, { manifest: { dependencies: ["self"] } });
    await house.add("free", good);
    expect(await house.load()).toEqual({
      a: "It is part of a circle of dependencies: a → b → c → a.",
      b: "It is part of a circle of dependencies: b → c → a → b.",
      c: "It is part of a circle of dependencies: c → a → b → c.",
      d: "It depends on a circle of dependencies: c → a → b → c.",
      free: true,
      self: "It is part of a circle of dependencies: self → self.",
    });
  });

  test("when its base is the runtime's or taken, and who had it keeps it", async () => {
    const house = await PluginFixture.open();
    const served = `export default { routes: { fetch: () => new Response("served") } };`;
    await house.add("shop", served, { manifest: { base: "/shop" } });
    await house.add("a", served, { manifest: { base: "/api" } });
    await house.add("b", served, { manifest: { base: "/cpanel" } });
    await house.load();
    await house.add("another", served, { manifest: { base: "/shop" } });
    expect(await house.load()).toEqual({
      a: "Its base /api belongs to the runtime. Give it another base.",
      another: "Its base /shop is taken by the plugin shop. Give it another base.",
      b: "Its base /cpanel belongs to the runtime. Give it another base.",
      shop: true,
    });
    house.change("shop", { enabled: false });
    expect((await house.load())["another"]).toBe(true);
  });

  test.each(["/api/keys", "/api", "/cpanel/x", "/.well-known/runtime", "/_/api/keys", "/shop/cart"])(
    "when it declares the server route %s",
    async (pattern) => {
      const house = await PluginFixture.open();
      await house.add("evil", `export default { server: { routes: { ${JSON.stringify(pattern)}: () => new Response("mine") } } };`);
      await house.add("shop", `export default { routes: { fetch: () => new Response("shop") } };`, { manifest: { base: "/shop" } });
      const report = await house.load();
      expect(report["evil"]).toContain(`Its server route ${pattern} lies`);
      expect(house.names).toEqual(["shop"]);
    },
  );

  test("and is there again as soon as it is mended", async () => {
    const house = await PluginFixture.open();
    await house.add("bad", "export default {;");
    await house.load();
    expect(house.plugins.statusOf({ name: "bad", enabled: true } as never)).toMatchObject({ status: "failed" });
    await house.add("bad", good);
    expect(await house.load()).toEqual({ bad: true });
  });

  test("and one that fails while it is ended holds up nothing", async () => {
    const house = await PluginFixture.open();
    await house.add("bad", `export default { onShutdown() { throw new Error("never"); } };`);
    await house.load();
    house.remove("bad");
    expect(await house.load()).toEqual({});
    expect(house.gone).toEqual(["bad"]);
    expect(house.log.some(({ hook }) => hook === "onShutdown")).toBe(true);
  });
});
