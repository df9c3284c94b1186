import { mkdir, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startInstances, type TestInstance, type TestInstances } from "../../support/start-instances.js";
import { startRegistry, type TestRegistry } from "../../support/start-registry.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

const app = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };`;
/** Longest time in ms until another daemon serves a change, with the interval of 100 ms below and time for a slow machine. */
const soonMs = 10_000;

let sqld: Sqld;
let registry: TestRegistry;
let instances: TestInstances;

beforeAll(async () => {
  [sqld, registry, instances] = await Promise.all([startSqld(), startRegistry(), startInstances()]);
});

afterAll(async () => {
  await instances.dispose();
  await Promise.all([sqld.dispose(), registry.dispose()]);
});

const workersOf = (name: string) => path.join(instances.directory, name, "workers");

/** Starts a daemon with directories of its own. */
async function start(name: string, variables: Record<string, string> = {}): Promise<TestInstance> {
  const own = path.join(instances.directory, name);
  await Promise.all(["workers", "plugins"].map((folder) => mkdir(path.join(own, folder), { recursive: true })));
  return instances.start(name, {
    RUNTIME_WORKER_DIRS: workersOf(name),
    RUNTIME_PLUGIN_DIRS: path.join(own, "plugins"),
    RUNTIME_AUTH_DB_MODE: "sync",
    RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
    RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms",
    RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed`,
    ...variables,
  });
}

async function upload({ client }: TestInstance, name: string, version: string, text: string) {
  const archive = await packFiles({ "index.js": app(text), "manifest.yaml": manifestOf(name, version) });
  return client.workers.upload({ file: uploadOf("package.tgz", archive) });
}

const read = async ({ url }: TestInstance, name: string) => {
  const response = await fetch(`${url}/${name}/`);
  return response.ok ? response.text() : response.status;
};
const eventually = (daemon: TestInstance, name: string) => expect.poll(() => read(daemon, name), { timeout: soonMs, interval: 50 });
const versionsOf = async ({ client }: TestInstance, name: string) => (await client.workers.list()).find((worker) => worker.name === name);

test("another daemon downloads an uploaded worker at its first request", async () => {
  const [a, c] = [await start("a"), await start("c")];
  await upload(a, "shop", "1.0.0", "first");
  expect(await read(a, "shop")).toBe("first");
  await expect.poll(() => versionsOf(c, "shop"), { timeout: soonMs }).toMatchObject({ versions: ["1.0.0"], source: "uploaded" });
  expect(existsSync(path.join(workersOf("c"), "shop"))).toBe(false);
  expect(await read(c, "shop")).toBe("first");
  expect(await readdir(path.join(workersOf("c"), "shop"))).toEqual(["1.0.0"]);

  await upload(a, "shop", "1.0.0", "replaced");
  await eventually(c, "shop").toBe("replaced");
  await upload(c, "shop", "2.0.0", "of c");
  await eventually(a, "shop").toBe("of c");

  await a.client.workers.disable({ params: { name: "shop", version: "2.0.0" } });
  await eventually(c, "shop").toBe("replaced");
  await c.client.workers.enable({ params: { name: "shop", version: "2.0.0" } });
  await eventually(a, "shop").toBe("of c");

  await a.client.workers.removeVersion({ params: { name: "shop", version: "2.0.0" } });
  await eventually(c, "shop").toBe("replaced");
  expect(await readdir(path.join(workersOf("c"), "shop"))).toEqual(["1.0.0"]);
  await c.client.workers.remove({ params: { name: "shop" } });
  await eventually(a, "shop").toBe(404);
  await expect.poll(() => existsSync(path.join(workersOf("a"), "shop")), { timeout: soonMs }).toBe(false);
  await Promise.all([a.stop(), c.stop()]);
});

test("downloaded workers are served while the registry is away, also after a restart", async () => {
  const a = await start("a");
  let c = await start("c");
  await upload(a, "kept", "1.0.0", "kept");
  await upload(a, "never-used", "1.0.0", "never used");
  await eventually(c, "kept").toBe("kept");
  await registry.kill();
  await c.stop();
  c = await start("c");
  expect(await read(c, "kept")).toBe("kept");
  expect(await read(c, "never-used")).toBe(503);
  const began = performance.now();
  await expect(upload(c, "kept", "1.0.0", "changed")).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
  expect(performance.now() - began).toBeLessThan(4000);
  expect([await read(a, "kept"), await read(c, "kept")]).toEqual(["kept", "kept"]);
  await registry.restart();
  expect(await read(c, "never-used")).toBe("never used");
  await upload(c, "kept", "1.0.0", "changed");
  await eventually(a, "kept").toBe("changed");
  await Promise.all([a.stop(), c.stop()]);
});

test("changes that others made while a daemon was stopped are applied at its start", async () => {
  const a = await start("a");
  let c = await start("c");
  for (const name of ["one", "two", "three"]) await upload(a, name, "1.0.0", name);
  for (const name of ["one", "two", "three"]) await eventually(c, name).toBe(name);
  await c.stop();
  await upload(a, "one", "1.0.0", "one replaced");
  await a.client.workers.remove({ params: { name: "two" } });
  await a.client.workers.disable({ params: { name: "three", version: "1.0.0" } });
  c = await start("c");
  await eventually(c, "one").toBe("one replaced");
  await eventually(c, "two").toBe(404);
  await eventually(c, "three").toBe(404);
  await c.stop();
  await rm(workersOf("c"), { recursive: true });
  c = await start("c");
  await eventually(c, "one").toBe("one replaced");
  await Promise.all([a.stop(), c.stop()]);
});
