import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

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

test("the gateway is disabled by default, enabled by a manifest, disabled on deletion", async () => {
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

test("reports the invalid setting of the gateway", async () => {
  await configure("enabled: true\nrateLimits:\n  - { limit: 1, window: 1 fortnight }\n");
  const row = await rowOfGateway();
  expect(row).toMatchObject({ status: "failed" });
  expect(row?.error).toContain('rateLimits[0].window: "1 fortnight" is not a duration such as 10s, 1m, 1h');
});
