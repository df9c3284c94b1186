import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installationFileName } from "../../../src/shared/installation-file-name.js";
import { holdsOldContent } from "../../../src/server/packages/transactions/journal.js";
import { uploadOf } from "../../support/connect.js";
import { CountingLoad } from "../../support/counting-load.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startInstances, type TestInstance, type TestInstances } from "../../support/start-instances.js";

const rounds = 5;
const starts = 2;
const filesPerPackage = 25;
const version = "1.0.0";
const uploadedNames = ["shop", "@team/blog", "wiki"];
/** Uploads of an idle machine take at most this time. */
const longestUploadMs = 400;

let instances: TestInstances;
let b: TestInstance;

beforeEach(async () => {
  instances = await startInstances();
  b = await instances.start("b");
});
afterEach(() => instances.dispose());

async function archiveOf(name: string, marker: string): Promise<Buffer> {
  const files = Array.from({ length: filesPerPackage }, (_, index): [string, string] => [`folder-${index % 5}/file-${index}.txt`, marker]);
  return await packFiles({ "manifest.yaml": manifestOf(name, version), "index.html": marker, ...Object.fromEntries(files) });
}

/** Returns whether the upload was acknowledged. */
async function upload(on: TestInstance, name: string, marker: string): Promise<boolean> {
  const archive = await archiveOf(name, marker);
  return await on.client.workers.upload({ file: uploadOf("package.tgz", archive) }).then(
    () => true,
    () => false,
  );
}

/** Returns the marker that all files of a package have, or undefined if it is not installed. */
async function markerOf(name: string): Promise<string | undefined> {
  const folder = path.join(instances.workers, name, version);
  if (!existsSync(folder)) return undefined;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "manifest.yaml" && entry.name !== installationFileName);
  expect(files.length).toBe(filesPerPackage + 1);
  const markers = new Set(await Promise.all(files.map((file) => readFile(path.join(file.parentPath, file.name), "utf8"))));
  expect(markers.size, `${folder} holds files of one upload only`).toBe(1);
  return [...markers][0];
}

/** Returns unfinished changes. Replaced files are kept for 60 s for other instances that still read them. */
async function unfinished(): Promise<string[]> {
  const staging = path.join(instances.workers, ".staging");
  const names = await readdir(staging).catch(() => []);
  return names.filter((name) => !holdsOldContent(path.join(staging, name)));
}

async function get(on: TestInstance, target: string): Promise<string> {
  return await (await fetch(on.url + target)).text();
}

test(`${rounds} kills of a daemon during uploads do not affect another daemon`, { timeout: 240_000 }, async () => {
  await upload(b, "served", "served");
  const load = new CountingLoad(`${b.url}/served/`);
  const acknowledged = new Map<string, string>();
  let cut = 0;
  for (let round = 0; round < rounds; round += 1) {
    const a = await instances.start("a");
    const marker = `round ${round}`;
    const uploads = uploadedNames.map(async (name) => {
      if (await upload(a, name, marker)) acknowledged.set(name, marker);
      else cut += 1;
    });
    setTimeout(() => a.process.kill("SIGKILL"), Math.random() * longestUploadMs);
    const own = await upload(b, "own", marker);
    await Promise.all([...uploads, a.kill()]);

    expect(own, "the other instance installs meanwhile").toBe(true);
    for (const name of uploadedNames) {
      const found = await markerOf(name);
      if (acknowledged.get(name) === marker) expect(found).toBe(marker);
      expect([acknowledged.get(name), marker], `${name} is wholly old or wholly new`).toContain(found);
      if (found !== undefined) {
        acknowledged.set(name, found);
        await expect.poll(() => get(b, `/${name}/`)).toBe(found);
      }
    }
    // Succeeds immediately, whatever locks the killed instance had.
    expect(await upload(b, "shop", `${marker}, once more`)).toBe(true);
    acknowledged.set("shop", `${marker}, once more`);
    expect(await get(b, "/shop/")).toBe(`${marker}, once more`);
    await expect.poll(unfinished, { message: "what was left is deleted by the instance that lives" }).toEqual([]);
  }
  await load.stop();
  expect(load.answers).toEqual(new Map([["200 served", load.total]]));
  expect(load.total).toBeGreaterThan(rounds);
  expect(cut, "some kills must have cut uploads").toBeGreaterThan(0);
});

test(`a daemon completes its uploads while another daemon starts ${starts} times`, { timeout: 120_000 }, async () => {
  const uploads = { refused: 0, done: 0 };
  const abort = new AbortController();
  const uploading = uploadedNames.map(async (name) => {
    for (let round = 0; !abort.signal.aborted; round += 1) uploads[(await upload(b, name, `round ${round}`)) ? "done" : "refused"] += 1;
  });
  for (let start = 0; start < starts; start += 1) {
    const c = await instances.start("c");
    await upload(c, "own", `start ${start}`);
    expect(await get(c, "/own/")).toBe(`start ${start}`);
    if (start % 2) await c.kill();
    else await c.stop();
  }
  abort.abort();
  await Promise.all(uploading);
  expect(uploads.refused).toBe(0);
  expect(uploads.done).toBeGreaterThan(starts);
  for (const name of uploadedNames) expect(await markerOf(name)).toMatch(/^round \d+$/);
  await expect.poll(unfinished).toEqual([]);
});
