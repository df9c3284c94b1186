import { randomBytes } from "node:crypto";
import { copyFile, readdir, readFile, rename, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { CountingLoad } from "../../support/counting-load.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { mountSmallDisk } from "../../support/small-disk.js";
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

/** Time limit of a call to the registry. */
const registryLimitMs = 2_000;
/** A change without the registry takes `registryLimitMs` and at most this multiple of the time of a successful change. */
const slowestFactor = 3;
const smallestSurplusMs = 500;
const version = { scope: "_", name: "steady", version: "1.0.0" };

async function open(options: Parameters<typeof startOciInstances>[0] = {}): Promise<OciInstances> {
  const instances = await startOciInstances(options);
  onTestFinished(instances.dispose);
  return instances;
}

function serve({ url }: TestInstance, name: string): CountingLoad {
  const load = new CountingLoad(`${url}/${name}/`, { connections: 1, pauseMs: 5 });
  onTestFinished(() => load.stop());
  return load;
}

/** Measures a change with the registry, and returns the time limit in ms of a change without the registry. */
async function limitFrom(change: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await change();
  return registryLimitMs + Math.max(smallestSurplusMs, slowestFactor * (performance.now() - beganMs));
}

/** Uploads a worker of 400 KB. */
async function uploadLarge({ client }: TestInstance, name: string): Promise<void> {
  const files = { "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": "large", "data.bin": randomBytes(400 * 1024) };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(files)) });
}

const archiveOf = (name: string, text: string) =>
  packFiles({ "manifest.yaml": manifestOf(name, "1.0.0"), "index.js": `export default { fetch: () => new Response("${text}") };` });

const versionsOf = async ({ client }: TestInstance, name: string) =>
  (await client.workers.list()).find((worker) => worker.name === name)?.versions;

/** Waits until each daemon has all changes that were confirmed before: a new worker arrives after them. */
async function caughtUp(instances: readonly TestInstance[], name: string): Promise<void> {
  const [first] = instances as [TestInstance];
  await uploadText(first, name, "1.0.0", name);
  for (const instance of instances) await expectSoon(instance, name, name);
}

/** Returns the file in which the registry stores the archive that a daemon has installed. */
async function blobOf(instances: OciInstances, daemon: string, name: string): Promise<string> {
  const file = path.join(instances.workersOf(daemon), name, "1.0.0", ".installed.json");
  return instances.registry.blobFile((JSON.parse(await readFile(file, "utf8")) as { digest: string }).digest);
}

const staged = async (instances: OciInstances, daemon: string) =>
  (await readdir(path.join(instances.workersOf(daemon), ".staging")).catch(() => [])).filter((name) => !name.startsWith("."));

test("a change that a frozen registry delays fails within 2 s and is never applied", { timeout: clusterTestMs }, async () => {
  const instances = await open();
  const [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
  await uploadText(a, "steady", "1.0.0", "steady");
  await expectSoon(c, "steady", "steady");
  const loads = [serve(a, "steady"), serve(c, "steady")];
  const limitMs = await limitFrom(() => uploadText(a, "before", "1.0.0", "before"));
  await instances.registry.freeze();
  const tookMs: number[] = [];
  const refused = async (change: () => Promise<unknown>) => {
    const beganMs = performance.now();
    await expect(change()).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    tookMs.push(performance.now() - beganMs);
  };
  const code = Buffer.from("export default { fetch: () => new Response('late') };");

  await refused(() => uploadText(a, "steady", "1.0.0", "late"));
  await refused(() => uploadText(c, "steady", "2.0.0", "late"));
  await refused(() => uploadText(c, "new", "1.0.0", "late"));
  await refused(() => a.client.workerFiles.upload({ files: [uploadOf("index.js", code)], fields: { path: "workers/steady/1.0.0" } }));
  instances.registry.thaw();
  await caughtUp([a, c], "after");

  console.log(`refused after ${tookMs.map((timeMs) => timeMs.toFixed(0)).join(", ")} ms, limit ${limitMs.toFixed(0)} ms`);
  expect(Math.max(...tookMs)).toBeLessThan(limitMs);
  await Promise.all(loads.map((load) => load.stop()));
  for (const load of loads) expect([...load.answers.keys()]).toEqual(["200 steady"]);
  for (const daemon of [a, c]) {
    expect(await versionsOf(daemon, "steady")).toEqual(["1.0.0"]);
    expect(await versionsOf(daemon, "new")).toBeUndefined();
    expect(await readText(daemon, "new")).toBe(404);
  }
  for (const name of ["a", "c"]) await expect.poll(() => staged(instances, name), { timeout: soonMs }).toEqual([]);
});

test("a version can be enabled, disabled and deleted while the registry is frozen", { timeout: clusterTestMs }, async () => {
  const instances = await open();
  const [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
  await uploadText(a, "steady", "1.0.0", "steady");
  await expectSoon(c, "steady", "steady");
  await instances.registry.freeze();

  await a.client.workers.disable({ params: version });
  await expectSoon(c, "steady", 404);
  await c.client.workers.enable({ params: version });
  await expectSoon(a, "steady", "steady");
  await a.client.workers.remove({ params: { scope: "_", name: "steady" } });
  await expectSoon(c, "steady", 404);

  instances.registry.thaw();
});

test("an archive that was replaced or truncated in the registry is never served", { timeout: clusterTestMs }, async () => {
  const instances = await open();
  const a = await instances.start("a");
  let c = await instances.start("c");
  for (const name of ["forged", "cut", "kept"]) await uploadText(a, name, "1.0.0", name);
  await expectSoon(c, "kept", "kept");
  await c.stop();
  await uploadText(a, "kept", "1.0.0", "replaced");
  const blobs = await Promise.all(["forged", "cut", "kept"].map((name) => blobOf(instances, "a", name)));
  for (const blob of blobs) await copyFile(blob, `${blob}.right`);
  const [forged, cut, kept] = blobs as [string, string, string];
  // A valid archive of the same worker, but with other code.
  await writeFile(forged, await archiveOf("forged", "evil"));
  await writeFile(kept, await archiveOf("kept", "evil"));
  await truncate(cut, 100);

  c = await instances.start("c");
  await expect.poll(() => c.output(), { timeout: soonMs }).toContain("a replaced version could not be downloaded");
  const load = serve(c, "kept");
  for (let look = 0; look < 5; look += 1) {
    expect(await readText(c, "forged")).toBe(503);
    expect(await readText(c, "cut")).toBe(503);
  }
  await load.stop();
  expect([...load.answers.keys()]).toEqual(["200 kept"]);
  expect(await readText(a, "kept")).toBe("replaced");

  for (const blob of blobs) await rename(`${blob}.right`, blob);
  for (const name of ["forged", "cut"]) await expectSoon(c, name, name);
  await expectSoon(c, "kept", "replaced");
});

test("an upload to a full registry changes nothing, and succeeds when there is space", { timeout: clusterTestMs }, async () => {
  const disk = await mountSmallDisk({ megabytes: 4, names: 2_000 });
  const instances = await open({ disk });
  const [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
  await uploadText(a, "steady", "1.0.0", "steady");
  await expectSoon(c, "steady", "steady");
  const loads = [serve(a, "steady"), serve(c, "steady")];
  const limitMs = await limitFrom(() => uploadLarge(a, "before"));
  await disk.leaveKilobytes(40);
  for (const name of ["steady", "new"]) {
    const beganMs = performance.now();
    await expect(uploadLarge(a, name)).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    expect(performance.now() - beganMs).toBeLessThan(limitMs);
  }
  expect([await versionsOf(a, "new"), await versionsOf(c, "new")]).toEqual([undefined, undefined]);
  await a.client.workers.disable({ params: version });
  await expectSoon(c, "steady", 404);
  await a.client.workers.enable({ params: version });
  await expectSoon(c, "steady", "steady");

  await disk.free();
  await uploadLarge(c, "new");

  await expect.poll(() => versionsOf(a, "new"), { timeout: soonMs }).toEqual(["1.0.0"]);
  await expect.poll(async () => (await fetch(`${a.url}/new/`)).status, { timeout: soonMs }).toBe(200);
  await Promise.all(loads.map((load) => load.stop()));
  for (const load of loads) expect([...load.answers.keys()].filter((answer) => !/^(200 steady|404 )/.test(answer))).toEqual([]);
});
