import { mkdir, readdir, readFile, rm } from "node:fs/promises";
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

  await a.client.workers.disable({ params: { scope: "_", name: "shop", version: "2.0.0" } });
  await eventually(c, "shop").toBe("replaced");
  const manifest = path.join(workersOf("c"), "shop", "2.0.0", "manifest.yaml");
  await expect.poll(() => readFile(manifest, "utf8"), { timeout: soonMs }).toContain("enabled: false");
  await c.client.workers.enable({ params: { scope: "_", name: "shop", version: "2.0.0" } });
  await eventually(a, "shop").toBe("of c");

  await a.client.workers.removeVersion({ params: { scope: "_", name: "shop", version: "2.0.0" } });
  await eventually(c, "shop").toBe("replaced");
  expect(await readdir(path.join(workersOf("c"), "shop"))).toEqual(["1.0.0"]);
  await c.client.workers.remove({ params: { scope: "_", name: "shop" } });
  await eventually(a, "shop").toBe(404);
  await expect.poll(() => existsSync(path.join(workersOf("a"), "shop")), { timeout: soonMs }).toBe(false);
  await Promise.all([a.stop(), c.stop()]);
});

test("downloaded workers are served while the registry is away, also after a restart", async () => {
  const a = await start("d");
  let c = await start("e");
  await upload(a, "kept", "1.0.0", "kept");
  await upload(a, "never-used", "1.0.0", "never used");
  await eventually(c, "kept").toBe("kept");
  await registry.kill();
  await c.stop();
  c = await start("e");
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
  const a = await start("f");
  let c = await start("g");
  for (const name of ["one", "two", "three"]) await upload(a, name, "1.0.0", name);
  for (const name of ["one", "two", "three"]) await eventually(c, name).toBe(name);
  await c.stop();
  await upload(a, "one", "1.0.0", "one replaced");
  await a.client.workers.remove({ params: { scope: "_", name: "two" } });
  await a.client.workers.disable({ params: { scope: "_", name: "three", version: "1.0.0" } });
  c = await start("g");
  await eventually(c, "one").toBe("one replaced");
  await eventually(c, "two").toBe(404);
  await eventually(c, "three").toBe(404);
  await c.stop();
  await rm(workersOf("g"), { recursive: true });
  c = await start("g");
  await eventually(c, "one").toBe("one replaced");
  await Promise.all([a.stop(), c.stop()]);
});

test("a frozen registry and an absent primary reject changes, and workers are served", async () => {
  let [a, c] = [await start("h"), await start("i")];
  await upload(a, "steady", "1.0.0", "steady");
  await eventually(c, "steady").toBe("steady");
  await registry.freeze();
  let began = performance.now();
  await expect(upload(c, "steady", "2.0.0", "late")).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
  expect(performance.now() - began).toBeLessThan(5000);
  expect(await read(c, "steady")).toBe("steady");
  registry.thaw();
  await sqld.kill();
  began = performance.now();
  await expect(upload(c, "steady", "2.0.0", "late")).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE", status: 503 });
  const version = { scope: "_", name: "steady", version: "1.0.0" };
  await expect(a.client.workers.disable({ params: version })).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
  await expect(a.client.workers.removeVersion({ params: version })).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
  expect(performance.now() - began).toBeLessThan(10_000);
  await Promise.all([a.stop(), c.stop()]);
  [a, c] = [await start("h"), await start("i")];
  expect([await read(a, "steady"), await read(c, "steady")]).toEqual(["steady", "steady"]);
  await sqld.restart();
  await expect.poll(() => upload(c, "steady", "2.0.0", "back").then(() => "done"), { timeout: soonMs }).toBe("done");
  await eventually(a, "steady").toBe("back");
  expect((await versionsOf(a, "steady"))?.versions).toEqual(["2.0.0", "1.0.0"]);
  await Promise.all([a.stop(), c.stop()]);
});

test("two daemons that upload one version at the same time end with the same content", async () => {
  const [a, c] = [await start("j"), await start("k")];
  for (let round = 0; round < 5; round += 1) {
    const uploads = await Promise.allSettled([upload(a, "race", "1.0.0", `a ${round}`), upload(c, "race", "1.0.0", `c ${round}`)]);
    expect(uploads.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
    await expect.poll(async () => (await read(a, "race")) === (await read(c, "race")), { timeout: soonMs }).toBe(true);
    expect(await read(a, "race")).toMatch(new RegExp(`^[ac] ${round}$`));
  }
  await Promise.all([a.stop(), c.stop()]);
});
