import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { treeDigest } from "../../support/tree-digest.js";

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon.dispose());

async function configure(settings: string): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("plugin-gateway", "1.0.0", settings) });
  await root.plugins.upload({ file: uploadOf("gateway.tgz", archive) });
}

const rowOfGateway = async () => (await root.plugins.list()).find(({ name }) => name === "plugin-gateway");

test("an uploaded manifest enables and configures the built-in gateway plugin", async () => {
  const shipped = { source: "built-in", enabled: false, status: "disabled", removable: false };
  expect(await rowOfGateway()).toMatchObject(shipped);

  await configure("enabled: true\nrateLimits:\n  - { limit: 2, window: 1h }\n");
  expect(await rowOfGateway()).toMatchObject({ source: "built-in", enabled: true, status: "loaded", removable: true });
  const { plugins } = await root.metrics.show({});
  expect(plugins).toMatchObject([{ plugin: "plugin-gateway", counters: [{ name: "gateway_allowed" }, { name: "gateway_limited" }] }]);

  await root.plugins.remove({ params: { name: "plugin-gateway" } });
  expect(await rowOfGateway()).toMatchObject(shipped);
  await expect.poll(async () => (await root.metrics.show({})).plugins).toEqual([]);
});

const invalidSettings = "enabled: true\nrateLimits:\n  - { limit: 1, window: 1 fortnight }\n";
const invalidWindow = 'rateLimits[0].window: "1 fortnight" is not a duration such as 10s, 1m, 1h';

const gatewayFolder = () => path.join(daemon.directory, "plugins/plugin-gateway");
const saveManifest = (settings: string) =>
  root.pluginFiles.upload({
    fields: { path: "plugins/plugin-gateway" },
    files: [uploadOf("manifest.yaml", Buffer.from(manifestOf("plugin-gateway", "1.0.0", settings)))],
  });

describe("the gateway plugin", () => {
  beforeEach(() => configure("enabled: true\nrateLimits:\n  - { limit: 1, window: 1h, paths: [/limited] }\n"));
  afterEach(() => root.plugins.remove({ params: { name: "plugin-gateway" } }));

  test.each([
    ["an upload", configure],
    ["a file change", saveManifest],
  ])("rejects invalid settings in %s and keeps the previous settings", async (_way, change) => {
    const [row, files] = [await rowOfGateway(), await treeDigest(gatewayFolder())];
    await expect(change(invalidSettings)).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      message: expect.stringContaining(invalidWindow) as string,
    });
    expect(await rowOfGateway()).toEqual(row);
    expect(row).toMatchObject({ status: "loaded" });
    expect(await treeDigest(gatewayFolder())).toEqual(files);
    await fetch(`${daemon.url}/limited`);
    expect((await fetch(`${daemon.url}/limited`)).status).toBe(429);
  });

  test("reports the name of an invalid setting in a manifest on the disk", async () => {
    await writeFile(path.join(gatewayFolder(), "manifest.yaml"), manifestOf("plugin-gateway", "1.0.0", invalidSettings));
    await root.plugins.reload();
    const row = await rowOfGateway();
    expect(row).toMatchObject({ status: "failed" });
    expect(row?.error).toContain(invalidWindow);
    // With a valid manifest, the plugin is loaded again.
    await saveManifest("enabled: true\n");
    expect(await rowOfGateway()).toMatchObject({ status: "loaded" });
  });
});
