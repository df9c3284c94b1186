import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
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
let a: TestInstance;
let c: TestInstance;

beforeAll(async () => {
  instances = await startOciInstances();
  [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
});

afterAll(() => instances.dispose());

const find = async ({ client }: TestInstance) => (await client.workers.list()).find(({ name }) => name === "mixed");
const check = async () => (await a.client.health.ready({ query: { verbose: "1" } })).checks?.find(({ name }) => name === "package-store");

async function uploadPlugin({ client }: TestInstance, base: string, name = "greeter"): Promise<void> {
  const code = 'export default { routes: { fetch: () => new Response("plugin") } };';
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0", `base: ${base}\n`), "plugin.js": code });
  await client.plugins.upload({ file: uploadOf("plugin.tgz", archive) });
}

test(
  "two daemons accept only one of a worker and a plugin with the same path",
  async () => {
    const results = await Promise.allSettled([uploadText(a, "taken", "1.0.0", "worker"), uploadPlugin(c, "/taken")]);
    const rejected = results.filter((result) => result.status === "rejected");
    expect(rejected).toHaveLength(1);
    expect(rejected[0]?.reason).toMatchObject({ code: "BASE_TAKEN" });
    const text = results[0]?.status === "fulfilled" ? "worker" : "plugin";
    for (const daemon of [a, c]) await expectSoon(daemon, "taken", text);
    // After the deletion, the path is free for the other kind.
    if (text === "worker") await c.client.workers.remove({ params: { scope: "_", name: "taken" } });
    else await a.client.plugins.remove({ params: { name: "greeter" } });
    await expectSoon(a, "taken", 404);
    await expectSoon(c, "taken", 404);
    if (text === "worker") await uploadPlugin(c, "/taken");
    else await uploadText(a, "taken", "1.0.0", "worker");
    expect(await readText(text === "worker" ? c : a, "taken")).toBe(text === "worker" ? "plugin" : "worker");
  },
  clusterTestMs,
);

test(
  "two daemons accept only one of two plugins with the same base path",
  async () => {
    const results = await Promise.allSettled([uploadPlugin(a, "/both", "first"), uploadPlugin(c, "/both", "second")]);
    const rejected = results.filter((result) => result.status === "rejected");
    expect(rejected).toHaveLength(1);
    // INVALID_PACKAGE_METADATA: the daemon has already installed the plugin of the other daemon.
    expect(rejected[0]?.reason).toMatchObject({ code: expect.stringMatching(/^(?:BASE_TAKEN|INVALID_PACKAGE_METADATA)$/) as string });
    for (const daemon of [a, c]) await expectSoon(daemon, "both", "plugin");
    const name = results[0]?.status === "fulfilled" ? "first" : "second";
    const owner = name === "first" ? a : c;
    await uploadPlugin(owner, "/both", name);
    const names = (await owner.client.plugins.list()).map((plugin) => plugin.name);
    expect(names.filter((each) => ["first", "second"].includes(each))).toEqual([name]);
    await owner.client.plugins.remove({ params: { name } });
  },
  clusterTestMs,
);

test(
  "an upload with a data folder is accepted only with `scope: instance`",
  async () => {
    const upload = async (data: string) => {
      const app = "export default { fetch: () => new Response(String(Boolean(process.env.DATA_DIR))) };";
      const archive = await packFiles({ "index.js": app, "manifest.yaml": manifestOf("notes", "1.0.0", `data: ${data}\n`) });
      await a.client.workers.upload({ file: uploadOf("package.tgz", archive) });
    };
    await expect(upload("1mb")).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      message: expect.stringContaining("data: { size: 1mb, scope: instance }") as string,
    });
    expect((await a.client.workers.list()).map(({ name }) => name)).not.toContain("notes");
    await upload("{ size: 1mb, scope: instance }");
    expect(await readText(a, "notes")).toBe("true");
  },
  clusterTestMs,
);

test(
  "a version folder that was copied by hand is listed under `localVersions`",
  async () => {
    await uploadText(a, "mixed", "1.0.0", "shared");
    const folder = path.join(instances.workersOf("a"), "mixed/2.0.0");
    await mkdir(folder);
    await writeFile(path.join(folder, "manifest.yaml"), manifestOf("mixed", "2.0.0"));
    await writeFile(path.join(folder, "index.html"), "local");
    await expect.poll(() => find(a), { timeout: soonMs }).toMatchObject({ versions: ["2.0.0", "1.0.0"], localVersions: ["2.0.0"] });
    await expect.poll(() => find(c), { timeout: soonMs }).toMatchObject({ versions: ["1.0.0"] });
    expect(await find(c)).not.toHaveProperty("localVersions");
  },
  clusterTestMs,
);

test(
  "the readiness check reports a registry that does not respond",
  async () => {
    await instances.registry.kill();
    await expect.poll(check, { timeout: soonMs, interval: 500 }).toMatchObject({
      status: "degraded",
      message: expect.stringContaining("The registry cannot be reached") as string,
    });
    await instances.registry.restart();
    await expect.poll(check, { timeout: soonMs, interval: 500 }).toMatchObject({ status: "ok" });
  },
  clusterTestMs,
);
