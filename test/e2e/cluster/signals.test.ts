import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";

let instances: SyncedInstances;
let daemons: [TestInstance, TestInstance, TestInstance];

beforeAll(async () => {
  instances = await startSyncedInstances();
  daemons = (await Promise.all(["a", "b", "c"].map((name) => instances.start(name)))) as typeof daemons;
  const app = "export default { fetch: () => new Response(String(process.pid)) };";
  for (const { client } of daemons) {
    const archive = await packFiles({ "index.js": app, "manifest.yaml": manifestOf("app", "1.0.0") });
    await client.workers.upload({ file: uploadOf("app.tgz", archive) });
  }
  const [{ client }] = daemons;
  const states = async () => (await client.instances.list()).map(({ state }) => state);
  await vi.waitFor(async () => expect(await states()).toEqual(["ready", "ready", "ready"]), { timeout: soonMs, interval: 50 });
});

afterAll(() => instances.dispose());

const pidsOf = async () => Promise.all(daemons.map(async ({ url }) => (await fetch(`${url}/app/`)).text()));
const version = { scope: "_", name: "app", version: "1.0.0" };

test(
  "a restart of a worker replaces its isolates on all daemons",
  async () => {
    const before = await pidsOf();

    const { data } = await daemons[1].client.workers.restart({ params: version });

    expect(data).toEqual({ name: "app", version: "1.0.0", restarted: 1, instances: { notified: 2 } });
    const replaced = async () => (await pidsOf()).filter((pid) => !before.includes(pid)).length;
    await expect.poll(replaced, { timeout: soonMs }).toBe(3);
    const after = await pidsOf();
    // Each signal causes one restart, so the new isolates remain.
    await daemons[0].client.plugins.reload();
    expect(await pidsOf()).toEqual(after);
  },
  clusterTestMs,
);

test(
  "a reload of plugins loads changed files on all daemons",
  async () => {
    for (const { directory } of daemons) {
      const folder = path.join(directory, "plugins", "greeter");
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, "manifest.yaml"), manifestOf("greeter", "1.0.0"));
      await writeFile(path.join(folder, "plugin.js"), "export default {};\n");
    }

    const { data } = await daemons[2].client.plugins.reload();

    expect(data.instances).toEqual({ notified: 2 });
    expect(data.plugins).toContainEqual({ name: "greeter", version: "1.0.0", loaded: true });
    for (const { client } of daemons) {
      const isLoaded = async () => (await client.plugins.loaded()).some(({ name }) => name === "greeter");
      await expect.poll(isLoaded, { timeout: soonMs }).toBe(true);
    }
  },
  clusterTestMs,
);

test(
  "without the primary, a worker restart affects only the daemon that receives it",
  async () => {
    await instances.sqld.kill();
    const before = await pidsOf();

    const { data } = await daemons[0].client.workers.restart({ params: version });

    expect(data).toMatchObject({ restarted: 1, instances: { notified: 0, problem: expect.stringContaining("no other daemon") } });
    await instances.sqld.restart();
    const [own, ...others] = await pidsOf();
    expect(own).not.toBe(before[0]);
    expect(others).toEqual(before.slice(1));
  },
  clusterTestMs,
);
