import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import {
  clusterTestMs,
  expectSoon,
  readText,
  startOciInstances,
  uploadText,
  type OciInstances,
} from "../../support/start-oci-instances.js";

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

/** Deletes the replica of a stopped daemon. */
async function removeReplica(name: string): Promise<void> {
  const own = path.dirname(instances.workersOf(name));
  const entries = await readdir(own, { recursive: true, withFileTypes: true });
  const replicas = entries.filter((entry) => entry.isDirectory() && entry.name === "replica");
  expect(replicas).toHaveLength(1);
  for (const { parentPath } of replicas) await rm(path.join(parentPath, "replica"), { recursive: true });
}

test(
  "an upload with `disableLatest` disables a version that is not downloaded yet",
  async () => {
    const [a, c] = await Promise.all([instances.start("q"), instances.start("r")]);
    const first = { "index.js": 'export default { fetch: () => new Response("one") };', "manifest.yaml": "name: bumped\n" };
    await a.client.workers.upload({ file: uploadOf("package.tgz", await packFiles(first)) });
    const versionsOf = async () => (await c.client.workers.list()).find(({ name }) => name === "bumped");
    await expect.poll(async () => (await versionsOf())?.versions).toEqual(["latest"]);
    const app = 'export default { fetch: () => new Response("two") };';
    const archive = await packFiles({ "index.js": app, "manifest.yaml": manifestOf("bumped", "2.0.0") });
    await c.client.workers.upload({ file: uploadOf("package.tgz", archive), query: { disableLatest: "true" } });
    expect(await versionsOf()).toMatchObject({ disabledVersions: ["latest"] });
    expect(await readText(c, "bumped")).toBe("two");
    await expectSoon(a, "bumped", "two");
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon without replica and primary keeps and serves its downloaded workers",
  async () => {
    const a = await instances.start("o");
    let c = await instances.start("p");
    await uploadText(a, "kept", "1.0.0", "kept");
    await expectSoon(c, "kept", "kept");
    await Promise.all([a.stop(), c.stop()]);
    await instances.sqld.kill();
    await removeReplica("p");
    c = await instances.start("p");
    expect(await readText(c, "kept")).toBe("kept");
    await expect.poll(() => c.output()).toContain("their downloaded files are served");
    expect(existsSync(path.join(instances.workersOf("p"), "kept", "1.0.0", "index.js"))).toBe(true);
    expect(await readText(c, "kept")).toBe("kept");
    await c.stop();
  },
  clusterTestMs,
);
