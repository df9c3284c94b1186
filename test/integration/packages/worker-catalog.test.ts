import { mkdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CatalogCache } from "../../../src/server/packages/catalog-cache.js";
import { WorkerCatalog } from "../../../src/server/packages/worker-catalog.js";
import { WorkerPackages } from "../../../src/server/packages/worker-packages.js";
import { writeFiles } from "../../support/pack-archive.js";
import { openPackages, silentLog, type PackagesFixture } from "./packages-fixture.js";

/** Allows for a slow machine. The documented time is about 2 s. */
const noticed = { timeout: 15_000, interval: 50 };

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
});
afterEach(() => fixture.close());

const manifest = (version: string) => `name: app\nversion: ${version}\n`;
const listed = async () => fixture.packages.list().map(({ name, source, versions }) => `${source} ${name} ${versions.join(" ")}`);

describe("the list of workers", () => {
  test("contains each folder under the name and version in the folder's metadata", async () => {
    await writeFiles(fixture.uploads, {
      "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n",
      "app/1.10.0/package.json": '{"name":"app","version":"1.10.0"}',
      "app/latest/manifest.yml": "name: app\nenabled: false\n",
      "app/docs/readme.txt": "no metadata",
      "@team/tool/2.0.0/manifest.yaml": "name: '@team/tool'\nversion: 2.0.0\n",
      "bare/package.json": '{"name":"other-name","version":"3.0.0"}',
      "bare/4.0.0/package.json": '{"name":"other-name","version":"4.0.0"}',
      ".hidden/1.0.0/manifest.yaml": "name: hidden\n",
      "app/.hidden/manifest.yaml": "name: hidden\n",
      "notes.txt": "a file",
    });
    await fixture.reopen();
    expect(fixture.packages.list()).toEqual([
      {
        name: "@team/tool",
        path: path.join(fixture.uploads, "@team/tool"),
        removable: true,
        source: "uploaded",
        versions: ["2.0.0"],
        disabledVersions: [],
      },
      {
        name: "app",
        path: path.join(fixture.uploads, "app"),
        removable: true,
        source: "uploaded",
        versions: ["latest", "1.10.0", "1.0.0"],
        disabledVersions: ["latest"],
      },
      {
        name: "other-name",
        path: path.join(fixture.uploads, "bare"),
        removable: true,
        source: "uploaded",
        versions: ["3.0.0"],
        disabledVersions: [],
      },
    ]);
    expect(fixture.packages.resolve("app", undefined)?.version).toBe("1.10.0");
  });

  test("excludes links to targets outside of the directory, and follows all other links", async () => {
    const outside = path.join(fixture.root, "outside");
    await writeFiles(outside, { "manifest.yaml": "name: outside\n", "1.0.0/manifest.yaml": "name: outside\nversion: 1.0.0\n" });
    await writeFiles(fixture.uploads, { "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n" });
    await symlink(outside, path.join(fixture.uploads, "outside"));
    await symlink(outside, path.join(fixture.uploads, "app", "2.0.0"));
    await symlink("app", path.join(fixture.uploads, "alias"));
    await symlink("/nowhere", path.join(fixture.uploads, "broken"));
    await fixture.reopen();
    expect(await listed()).toEqual(["uploaded app 1.0.0"]);
    expect(fixture.packages.resolve("app", undefined)?.folder).toBe(path.join(fixture.uploads, "app", "1.0.0"));
  });

  test("contains a duplicate version once, but built-in and uploaded workers separately", async () => {
    await fixture.packages.close();
    const second = path.join(fixture.root, "second");
    const image = path.join(fixture.root, ".image");
    await writeFiles(fixture.builtIn, { "app/manifest.yaml": manifest("1.0.0") });
    await writeFiles(image, { "tool/1.0.0/manifest.yaml": "name: tool\nversion: 1.0.0\n" });
    await writeFiles(fixture.uploads, { "app/1.0.0/manifest.yaml": manifest("1.0.0"), "app/2.0.0/manifest.yaml": manifest("2.0.0") });
    await writeFiles(second, { "app/2.0.0/manifest.yaml": manifest("2.0.0"), "app/3.0.0/manifest.yaml": manifest("3.0.0") });
    const packages = await WorkerPackages.open({ ...fixture.options, directories: [image, fixture.uploads, second, fixture.uploads] });
    expect(packages.list().map(({ name, source, versions, removable }) => [name, source, versions, removable])).toEqual([
      ["app", "built-in", ["1.0.0"], false],
      ["app", "uploaded", ["3.0.0", "2.0.0"], true],
      ["tool", "built-in", ["1.0.0"], false],
    ]);
    expect(packages.resolve("app", "1.0.0")?.folder).toBe(path.join(fixture.builtIn, "app"));
    expect(packages.resolve("app", "2.0.0")?.folder).toBe(path.join(fixture.uploads, "app", "2.0.0"));
    await packages.close();
  });

  test("contains invalid packages with a problem and their folder name", async () => {
    await writeFiles(fixture.uploads, {
      "field/1.0.0/manifest.yaml": "name: field\nversion: 1.0.0\ntimeout: soon\n",
      "broken/1.0.0/manifest.yaml": "name: [",
      "deep/latest/manifest.yaml": "[".repeat(60_000),
      "Odd Name/manifest.yaml": "name: [",
    });
    await fixture.reopen();
    expect(await listed()).toEqual(["uploaded broken 1.0.0", "uploaded deep latest", "uploaded field 1.0.0"]);
    expect(fixture.packages.resolve("field", undefined)?.problem).toMatch(/timeout: "soon"/);
    expect(fixture.packages.resolve("broken", undefined)?.problem).toMatch(/not valid YAML/);
    expect(fixture.packages.resolve("deep", undefined)?.problem).toMatch(/nested/);
  });

  test("contains a worker with a reserved name only when the worker is built in", async () => {
    await writeFiles(fixture.builtIn, { "cpanel/manifest.yaml": "name: cpanel\nversion: 1.0.0\n" });
    await writeFiles(fixture.uploads, { "cpanel/manifest.yaml": "name: cpanel\nversion: 9.0.0\n", "api/manifest.yaml": "name: api\n" });
    await fixture.reopen();
    expect(await listed()).toEqual(["built-in cpanel 1.0.0"]);
  });
});

describe("changes that a user makes to files in the package directory", () => {
  test("are detected when a worker, version or scope is added or deleted", async () => {
    await writeFiles(fixture.uploads, { "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n" });
    await expect.poll(listed, noticed).toEqual(["uploaded app 1.0.0"]);
    await writeFiles(fixture.root, { "aside/manifest.yaml": "name: app\nversion: 2.0.0\n" });
    await rename(path.join(fixture.root, "aside"), path.join(fixture.uploads, "app", "2.0.0"));
    await writeFiles(fixture.uploads, { "@team/tool/package.json": '{"name":"@team/tool"}' });
    await expect.poll(listed, noticed).toEqual(["uploaded @team/tool latest", "uploaded app 2.0.0 1.0.0"]);
    await rm(path.join(fixture.uploads, "app", "1.0.0"), { recursive: true });
    await rm(path.join(fixture.uploads, "@team"), { recursive: true });
    await expect.poll(listed, noticed).toEqual(["uploaded app 2.0.0"]);
    expect(fixture.retirements).toContainEqual({ folder: path.join(fixture.uploads, "app", "1.0.0"), movedTo: undefined });
    expect(fixture.packages.resolve("@team/tool", undefined)).toBeUndefined();
  });

  test("are detected when metadata is created, changed or repaired", async () => {
    await mkdir(path.join(fixture.uploads, "app", "1.0.0"), { recursive: true });
    const manifestPath = path.join(fixture.uploads, "app", "1.0.0", "manifest.yaml");
    await expect.poll(listed, noticed).toEqual([]);
    await writeFile(manifestPath, "name: app\nversion: 1.0.0\ntimeout: soon\n");
    await expect.poll(() => fixture.packages.resolve("app", undefined)?.problem, noticed).toBeDefined();
    const before = fixture.packages.resolve("app", undefined)?.generation;
    await writeFile(manifestPath, "name: app\nversion: 1.0.0\ntimeout: 9s\n");
    await expect.poll(() => fixture.packages.resolve("app", undefined)?.manifest.timeout, noticed).toBe(9_000);
    expect(fixture.packages.resolve("app", undefined)?.generation).not.toBe(before);
  });

  test("do not affect the catalog entries of other packages", async () => {
    await writeFiles(fixture.uploads, { "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n" });
    await fixture.reopen();
    const before = fixture.packages.resolve("app", undefined);
    await writeFiles(fixture.uploads, { "other/manifest.yaml": "name: other\n" });
    await expect.poll(listed, noticed).toHaveLength(2);
    await utimes(path.join(fixture.uploads, "app"), new Date(), new Date());
    await writeFiles(fixture.uploads, { "third/manifest.yaml": "name: third\n" });
    await expect.poll(listed, noticed).toHaveLength(3);
    expect(fixture.packages.resolve("app", undefined)).toBe(before);
    expect(fixture.retirements).toEqual([]);
  });
});

test("the catalog scans 2,000 workers in less than 40 s, and again in less than 2 s", { timeout: 120_000 }, async () => {
  const files = Array.from({ length: 2_000 }, (_, index) => [
    `worker-${index}/1.0.0/manifest.yaml`,
    `name: worker-${index}\nversion: 1.0.0\n`,
  ]);
  await writeFiles(fixture.uploads, Object.fromEntries(files) as Record<string, string>);
  const catalog = new WorkerCatalog({
    directories: [{ path: fixture.uploads, source: "uploaded" }],
    reservedNames: new Set(),
    known: new CatalogCache({ file: undefined, log: silentLog }),
    log: silentLog,
  });
  const scanMs = durationOf(() => catalog.scan());
  // The first check also reads files again whose modification time was too recent for a comparison.
  for (const check of catalog.folderChecks()) check.run(true);
  const changed: string[] = [];
  const checksMs = durationOf(() => {
    for (const check of catalog.folderChecks()) changed.push(...(check.run(false) ?? ["changed"]));
  });
  expect(changed).toEqual([]);
  const resolveMs = durationOf(() => {
    for (let count = 0; count < 100_000; count += 1) catalog.resolve("worker-1000", undefined);
  });
  expect(catalog.list()).toHaveLength(2_000);
  console.log(
    `2,000 workers: scan ${scanMs.toFixed(0)} ms, all folder checks ${checksMs.toFixed(0)} ms, resolve ${(resolveMs * 10).toFixed(0)} ns`,
  );
  expect(scanMs).toBeLessThan(40_000);
  expect(checksMs).toBeLessThan(2_000);
  expect(resolveMs).toBeLessThan(1_000);
});

test("the catalog finds a worker only by a name that equals the installed name", async () => {
  await writeFiles(fixture.uploads, { "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\nenv: { A: 1 }\n" });
  await fixture.reopen();
  const worker = fixture.packages.resolve("app", undefined);
  expect(worker).toMatchObject({ name: "app", version: "1.0.0", source: "uploaded", enabled: true, manifest: { env: { A: "1" } } });
  expect(await readFile(path.join(worker?.folder ?? "", "manifest.yaml"), "utf8")).toContain("name: app");
  for (const name of ["constructor", "__proto__", "", "app/1.0.0", "App"])
    expect(fixture.packages.resolve(name, undefined)).toBeUndefined();
});

function durationOf(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
