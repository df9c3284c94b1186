import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let client: Client;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_CPANEL: "off" } });
  client = connect(daemon.url, daemon.rootKey);
});

afterEach(async () => {
  await client.plugins.remove({ params: { name: "guard" } });
});

afterAll(() => daemon.dispose());

async function upload(version: string, code: string, more = ""): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("guard", version, more), "plugin.js": code });
  await client.plugins.upload({ file: uploadOf("guard.tgz", archive) });
}

const rejecting = `onRequest(request) { if (request.headers.get("x-blocked")) return new Response("blocked", { status: 403 }); }`;
const statusOfBlocked = async () => (await fetch(`${daemon.url}/anything/`, { headers: { "x-blocked": "yes" } })).status;
const pluginFiles = () => settledDigest(path.join(daemon.directory, "plugins"));
const shown = async () => (await client.plugins.list()).find(({ name }) => name === "guard");

describe("an upload that replaces a loaded plugin and fails to load", () => {
  test.each([
    ["the import throws", `throw new Error("plugin broke");`, "plugin broke (plugin.js:1:7)."],
    ["the factory throws", `export default () => {\n  throw new Error("plugin broke");\n};`, "plugin broke (plugin.js:2:9)."],
    ["onInit throws", `export default { onInit() { throw new Error("plugin broke"); } };`, "plugin broke (plugin.js:1:35)."],
    ["a hook is a number", "export default { onRequest: 7 };", "onRequest is a number instead of a function."],
    ["a dependency is missing", "export default {};", "The required plugin nowhere is not installed.", "dependencies: [nowhere]\n"],
  ])("is rejected, and the previous plugin keeps its files and hooks (failure: %s)", async (_what, code, reason, more = "") => {
    await upload("0.1.0", `export default () => ({ ${rejecting} });`);
    const [files, listed] = [await pluginFiles(), await shown()];

    await expect(upload("0.2.0", code, more)).rejects.toMatchObject({
      status: 422,
      code: "PLUGIN_LOAD_FAILED",
      message: `guard 0.2.0 failed to load: ${reason} Nothing changed: guard 0.1.0 is still loaded.`,
    });

    expect(await pluginFiles()).toBe(files);
    expect(await shown()).toEqual(listed);
    expect(await statusOfBlocked()).toBe(403);
    await client.plugins.reload();
    expect(await statusOfBlocked()).toBe(403);
  });

  test("initializes the previous plugin again when both versions export the same object", async () => {
    const code = `let isOpen = false;
      export default { onInit({ config }) { if (config.isBad) throw new Error("bad setting"); isOpen = true; }, onShutdown() { isOpen = false; },
        onRequest: () => new Response("open " + isOpen) };`;
    await upload("0.1.0", code);

    await expect(upload("0.2.0", code, "isBad: true\n")).rejects.toMatchObject({ code: "PLUGIN_LOAD_FAILED" });

    expect(await (await fetch(`${daemon.url}/anything/`)).text()).toBe("open true");
    expect(await shown()).toMatchObject({ version: "0.1.0", status: "loaded" });
  });

  test("is rejected; until then, the previous plugin's hooks process every request", async () => {
    await upload("0.1.0", `export default () => ({ ${rejecting} });`);
    const slow = "export default async () => { await new Promise((resolve) => setTimeout(resolve, 300)); throw new Error('late'); };";
    const ended = new AbortController();
    const rejected = upload("0.2.0", slow).finally(() => ended.abort());
    const requests = (async () => {
      const statuses = new Set<number>();
      while (!ended.signal.aborted) statuses.add(await statusOfBlocked());
      return [...statuses];
    })();

    await expect(rejected).rejects.toMatchObject({ code: "PLUGIN_LOAD_FAILED" });
    expect(await requests).toEqual([403]);
  });
});

test("a first upload of a plugin that fails to load is installed and listed as failed", async () => {
  await upload("0.1.0", `export default () => { throw new Error("plugin broke"); };`);

  expect(await shown()).toMatchObject({ version: "0.1.0", status: "failed", error: "plugin broke (plugin.js:1:30)" });
});

test("an upload whose code loads without an error replaces the loaded plugin", async () => {
  await upload("0.1.0", `export default () => ({ ${rejecting} });`);
  await upload("0.2.0", `export default () => ({ onRequest: () => new Response(null, { status: 418 }) });`);

  expect(await statusOfBlocked()).toBe(418);
  expect(await shown()).toMatchObject({ version: "0.2.0", status: "loaded", path: path.join(daemon.directory, "plugins/guard") });
  expect(await readFile(path.join(daemon.directory, "plugins/guard/plugin.js"), "utf8")).toContain("418");
  expect((await client.plugins.reload()).data.plugins.find(({ name }) => name === "guard")).toMatchObject({ loaded: true });
});
