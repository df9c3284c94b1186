import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installationFileName } from "../../../src/shared/installation-file-name.js";
import { backUpPrimary } from "../../support/back-up-primary.js";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import {
  clusterTestMs,
  expectSoon,
  readText,
  soonMs,
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

const archiveOf = (name: string, version: string, text: string) =>
  packFiles({ "index.js": `export default { fetch: () => new Response("${text}") };`, "manifest.yaml": manifestOf(name, version) });

async function uploadPlugin({ client }: TestInstance): Promise<void> {
  const code = 'export default { routes: { fetch: () => new Response("plugin") } };';
  const files = { "manifest.yaml": manifestOf("greeter", "1.0.0", "base: /hello\n"), "plugin.js": code };
  await client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles(files)) });
}

const workerOn = async ({ client }: TestInstance, name: string) => (await client.workers.list()).find((worker) => worker.name === name);
const pluginOn = async ({ client }: TestInstance) => (await client.plugins.list()).find(({ name }) => name === "greeter");
const foldersOf = (daemon: string) =>
  ["workers/given-up/2.0.0", "plugins/greeter"].map((folder) => path.join(path.dirname(instances.workersOf(daemon)), folder));

/** Starts two daemons with a worker 2.0.0 and the plugin `greeter`. `restore` restores a primary that has only version 1.0.0. */
async function startBeforeRestore(worker: string, names: readonly [string, string]) {
  const [a, c] = await Promise.all([instances.start(names[0]), instances.start(names[1])]);
  await uploadText(a, worker, "1.0.0", "one");
  await expectSoon(c, worker, "one");
  const restore = await backUpPrimary(instances.sqld);
  await expect.poll(async () => (await a.client.index.show()).problem, { timeout: soonMs }).toBeNull();
  await uploadText(a, worker, "2.0.0", "two");
  await uploadPlugin(a);
  for (const daemon of [a, c]) {
    await expectSoon(daemon, worker, "two");
    await expectSoon(daemon, "hello", "plugin");
  }
  return { a, c, restore };
}

test(
  "the resync `accept-primary` removes the packages that a restored primary lacks",
  async () => {
    const { a, c, restore } = await startBeforeRestore("given-up", ["a", "c"]);
    await restore();
    for (const { client } of [a, c]) {
      await expect.poll(async () => (await client.index.show()).divergence, { timeout: soonMs }).not.toBeNull();
      await client.index.resync({ body: { mode: "accept-primary" } });
    }
    await c.kill();
    await expectSoon(a, "given-up", "one");
    await expectSoon(a, "hello", 404);
    expect(await workerOn(a, "given-up")).toMatchObject({ versions: ["1.0.0"] });
    expect(await pluginOn(a)).toBeUndefined();
    await expect.poll(() => a.output()).toMatch(/"versions":\["2\.0\.0"\].*because an operator accepted its rows/);
    await expect.poll(() => a.output()).toMatch(/"plugin":"greeter".*because an operator accepted its rows/);
    expect(foldersOf("a").filter((folder) => existsSync(folder))).toEqual([]);

    // The kill came before or after the removal. Packages that were not removed are local.
    const killed = await instances.start("c");
    const { versions = [], localVersions = [] } = (await workerOn(killed, "given-up")) ?? {};
    expect(versions.toSorted()).toEqual(["1.0.0", ...localVersions]);
    const plugin = await pluginOn(killed);
    expect(plugin === undefined || plugin.local === true).toBe(true);
    await uploadText(killed, "given-up", "2.0.0", "again");
    await expectSoon(a, "given-up", "again");
    await Promise.all([a.stop(), killed.stop()]);
  },
  clusterTestMs,
);

test(
  "packages that the index has lost are local until they are uploaded again",
  async () => {
    const before = await startBeforeRestore("shop", ["d", "e"]);
    await uploadText(before.a, "again", "1.0.0", "again");
    await expectSoon(before.c, "again", "again");
    await Promise.all([before.a.stop(), before.c.stop()]);
    await removeReplica("e");
    await before.restore();
    const [c, fresh] = await Promise.all([instances.start("e"), instances.start("fresh")]);

    expect([await readText(c, "shop"), await readText(c, "hello")]).toEqual(["two", "plugin"]);
    expect(await workerOn(c, "shop")).toMatchObject({ versions: ["2.0.0", "1.0.0"], localVersions: ["2.0.0"] });
    expect(await pluginOn(c)).toMatchObject({ local: true, status: "loaded" });
    expect(await workerOn(fresh, "shop")).toMatchObject({ versions: ["1.0.0"] });

    const code = Buffer.from('export default { fetch: () => new Response("edited") };');
    const edit = () => [uploadOf("index.js", code)];
    const record = path.join(instances.workersOf("e"), "shop", "2.0.0", installationFileName);
    const recordBefore = await readFile(record, "utf8");
    const outdated = c.client.workerFiles.upload({ files: edit(), fields: { path: "workers/shop/2.0.0", ifMatch: ['"outdated"'] } });
    await expect(outdated).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await readFile(record, "utf8"), "a rejected change keeps the digest").toBe(recordBefore);
    await c.client.workerFiles.upload({ files: edit(), fields: { path: "workers/shop/2.0.0" } });
    expect(await readText(c, "shop")).toBe("edited");
    const query = { newOnly: "true" } as const;
    await fresh.client.workers.upload({ file: uploadOf("package.tgz", await archiveOf("shop", "2.0.0", "two")), query });
    await expectSoon(c, "shop", "two");
    await c.client.workers.upload({ file: uploadOf("package.tgz", await archiveOf("again", "1.0.0", "again")), query });
    await expectSoon(fresh, "again", "again");
    await uploadPlugin(fresh);
    await expect.poll(() => pluginOn(c), { timeout: soonMs }).not.toHaveProperty("local");
    for (const name of ["shop", "again"]) expect(await workerOn(c, name)).not.toHaveProperty("localVersions");
    await Promise.all([c.stop(), fresh.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon removes and logs the packages that were deleted while it was stopped",
  async () => {
    const a = await instances.start("f");
    let c = await instances.start("g");
    await uploadText(a, "removed", "1.0.0", "removed");
    await expectSoon(c, "removed", "removed");
    await c.stop();
    await a.client.workers.remove({ params: { scope: "_", name: "removed" } });
    c = await instances.start("g");
    await expectSoon(c, "removed", 404);
    await expect.poll(() => c.output()).toMatch(/"versions":\["1\.0\.0"\].*removed versions that the index lists as deleted/);
    expect(c.output()).not.toContain("could not be stopped");
    expect(existsSync(path.join(instances.workersOf("g"), "removed/1.0.0"))).toBe(false);
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

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
