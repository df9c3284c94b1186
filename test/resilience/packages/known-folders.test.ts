import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { CatalogCache } from "../../../src/server/packages/catalog-cache.js";
import type { WorkerFolder } from "../../../src/server/packages/worker-folders.js";
import { WorkerManifest } from "../../../src/shared/worker-manifest.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { silentLog } from "../../integration/packages/packages-fixture.js";

let daemon: TestDaemon;
let folder: string;
const known = () => path.join(daemon.directory, "state/known-workers.json");

async function start(directory?: string): Promise<void> {
  daemon = await startDaemon(directory === undefined ? {} : { directory });
  onTestFinished(daemon.dispose);
  folder = path.join(daemon.directory, "workers/app/1.0.0");
}

async function restart(): Promise<void> {
  await daemon.stop();
  await start(daemon.directory);
}

/** The files get an old time: recent folders are not cached, because another change could keep their time. */
async function write(manifest: string, ageSeconds = 60): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "manifest.yaml"), manifest);
  await writeFile(path.join(folder, "index.html"), "page");
  const at = Date.now() / 1000 - ageSeconds;
  for (const target of ["manifest.yaml", "index.html", "."]) await utimes(path.join(folder, target), at, at);
}

const statusOf = async (target = "/app/") => (await fetch(daemon.url + target)).status;

beforeEach(async () => {
  await start();
  await daemon.stop();
  await write("name: app\nversion: 1.0.0\nenabled: true\n");
  await start(daemon.directory);
});

test("the catalog cache is used at the next start, and only its owner can read it", async () => {
  expect(await statusOf()).toBe(200);
  await daemon.stop();
  expect(await readFile(known(), "utf8")).toContain(folder);
  expect((await stat(known())).mode & 0o777).toBe(0o600);
  await start(daemon.directory);
  expect(await statusOf()).toBe(200);
});

test("the daemon reads a package that was changed while the daemon was stopped", async () => {
  await daemon.stop();
  // The file has the same length, so only its time differs.
  await write("name: app\nversion: 1.0.0\nenabled: false", 30);
  await start(daemon.directory);
  expect(await statusOf()).toBe(404);
  await restart();
  expect(await statusOf()).toBe(404);
});

test("the daemon ignores a catalog cache that was modified or damaged", async () => {
  await daemon.stop();
  const content = await readFile(known(), "utf8");
  for (const damaged of [content.replace('"enabled":true', '"enabled":false'), content.slice(0, 100), "", "\u0000".repeat(1000)]) {
    await writeFile(known(), damaged);
    await start(daemon.directory);
    expect(await statusOf()).toBe(200);
    await daemon.kill();
  }
});

test("the catalog cache omits a version after its deletion", async () => {
  await daemon.stop();
  await rm(path.dirname(folder), { recursive: true });
  await start(daemon.directory);
  expect(await statusOf()).toBe(404);
  await daemon.stop();
  await write("name: app\nversion: 1.0.0\n", 10);
  await start(daemon.directory);
  expect(await statusOf()).toBe(200);
});

const foundIn = (name: string, fields: object): WorkerFolder => ({
  directory: "/workers",
  folder: `/workers/${name}`,
  versions: ["1.0.0", "2.0.0"].map((version) => ({
    name,
    version,
    enabled: true,
    manifest: WorkerManifest.parse(fields),
    folder: `/workers/${name}/${version}`,
    identity: `${name} ${version}`,
  })),
  watched: [[`/workers/${name}`, "1:2:3"]],
  hasLinks: false,
});

test("the catalog cache restores each manifest and stores equal manifests once", async () => {
  const file = path.join(daemon.directory, "known.json");
  const found = [foundIn("a", {}), foundIn("b", { ttl: "7s" }), foundIn("c", {})];
  const before = new CatalogCache({ file, log: silentLog });
  for (const one of found) before.note(one);
  await before.save();
  const after = new CatalogCache({ file, log: silentLog });
  expect(found.map((one) => after.recall(one.folder))).toEqual(found);
  expect((await readFile(file, "utf8")).split('"ttl"')).toHaveLength(3);
});
