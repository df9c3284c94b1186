import { renameSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PluginServer } from "../../support/plugin-server.js";
import { writeTree } from "../../support/write-tree.js";
import { PluginFixture } from "../../integration/plugins/plugin-fixture.js";

describe("a plugin hook that never completes", () => {
  let server: PluginServer;
  beforeAll(async () => {
    server = await PluginServer.start();
    await server.workers.add("app", { files: { "index.js": "export default { fetch: () => new Response('ok') };" } });
  });
  afterAll(() => server.stop());

  test("causes PLUGIN_HOOK_FAILED after 10 s if it is an onRequest hook", async () => {
    server.use({ onRequest: () => new Promise<void>(() => undefined) });
    expect(await server.refusal("/app/ok")).toMatchObject({ code: "PLUGIN_HOOK_FAILED" });
    expect(server.complaints[0]?.message).toContain("within 10 s");
  });

  test("delays the response by at most 10 s if it is an onResponse hook", async () => {
    server.use({ onResponse: () => new Promise<void>(() => undefined) });
    expect(await server.text("/app/")).toBe("ok");
    expect(server.complaints[0]?.message).toContain("within 10 s");
  });
});

/** Enough files that the folder can be replaced while it is read. */
const inManyFiles = (text: string) => ({
  "plugin.js": `export { default } from "./lib/part.js";`,
  "lib/part.js": `export default { provides: () => "${text}" };`,
  ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`data/${at}`, text])),
});

test("a plugin remains loaded when its folder is replaced during a reload", async () => {
  const fixture = await PluginFixture.open();
  const guard = path.join(fixture.directory, "guard");
  await fixture.add("guard", inManyFiles("0"));
  await fixture.load();
  for (let round = 1; round <= 12; round += 1) {
    await writeTree(path.join(fixture.directory, "next"), inManyFiles(`${round}`));
    await writeFile(path.join(guard, "changed"), `${round}`);
    const loading = fixture.load();
    await setTimeout(round * 5);
    renameSync(guard, path.join(fixture.directory, `before-${round}`));
    renameSync(path.join(fixture.directory, "next"), guard);
    expect(await loading, `round ${round}`).toEqual({ guard: true });
  }
  await fixture.load();
  expect(fixture.plugins.set.plugins[0]?.hooks.provides?.()).toBe("12");
});
