import { chmodSync, existsSync, readdirSync } from "node:fs";
import { lstat, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { EventEmitter, once } from "node:events";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WorkerPackages } from "../../../src/server/packages/worker-packages.js";
import { ApiError } from "../../../src/shared/api-error.js";
import { buildTgz, type TarEntry } from "../../support/build-tar.js";
import { entriesOf } from "../../support/entries-of.js";
import { run, writeFiles } from "../../support/pack-archive.js";
import { treeDigest, treeLines } from "../../support/tree-digest.js";
import { openPackages, type PackagesFixture } from "./packages-fixture.js";

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
});
afterEach(() => fixture.close());

function app(version: string, mark = "", extra: readonly TarEntry[] = []): Buffer {
  return buildTgz(
    { name: "package/manifest.yaml", content: `name: app\nversion: ${version}\n` },
    { name: "package/mark", content: mark },
    ...extra,
  );
}

function named(name: string): Buffer {
  return buildTgz({ name: "package.json", content: JSON.stringify({ name }) });
}

const installedMark = (version: string) => readFile(path.join(fixture.uploads, "app", version, "mark"), "utf8");

describe("the replacement of a worker version", () => {
  test("replaces all files and passes the old, moved folder to the `retire` callback", async () => {
    await fixture.install(app("1.0.0", "old", [{ name: "package/only-old" }]));
    const before = fixture.packages.resolve("app", undefined);
    let filesOfOld: string[] = [];
    Object.assign(fixture.options, {
      retire: async (folder: string, movedTo: string) => {
        expect(fixture.packages.resolve("app", undefined)?.generation).not.toBe(before?.generation);
        expect(folder).toBe(before?.folder);
        await Promise.resolve();
        filesOfOld = readdirSync(movedTo).toSorted();
      },
    });
    await fixture.install(app("1.0.0", "new"));
    expect(await installedMark("1.0.0")).toBe("new");
    expect(filesOfOld).toEqual(["manifest.yaml", "mark", "only-old"]);
    expect(readdirSync(path.join(fixture.uploads, "app", "1.0.0")).toSorted()).toEqual(["manifest.yaml", "mark"]);
  });

  test("keeps the old folder until all isolates of the old version have stopped", async () => {
    const running = new EventEmitter();
    let moved: string | undefined;
    Object.assign(fixture.options, {
      retire: async (_folder: string, movedTo: string | undefined) => {
        moved = movedTo;
        await once(running, "done");
      },
    });
    await fixture.install(app("1.0.0", "old"));
    await fixture.install(app("1.0.0", "new"));
    expect(await readFile(path.join(moved as string, "mark"), "utf8")).toBe("old");
    running.emit("done");
    await expect.poll(() => existsSync(path.join(fixture.uploads, ".staging"))).toBe(false);
  });

  test("replaces a file or link at the version's path, but not the target of a link", async () => {
    const outside = path.join(fixture.root, "outside");
    await writeFiles(outside, { "kept.txt": "kept" });
    await mkdir(path.join(fixture.uploads, "app"));
    const target = path.join(fixture.uploads, "app", "1.0.0");
    for (const put of [() => writeFile(target, "a file"), () => symlink(outside, target), () => symlink("/nowhere", target)]) {
      await rm(target, { recursive: true, force: true });
      await put();
      await fixture.install(app("1.0.0", "new"));
      expect((await lstat(target)).isDirectory()).toBe(true);
      expect(await installedMark("1.0.0")).toBe("new");
      expect(readdirSync(outside)).toEqual(["kept.txt"]);
    }
  });

  test("replaces a file or link at the path of the worker's folder or of its scope", async () => {
    const outside = path.join(fixture.root, "outside");
    await mkdir(outside);
    await symlink(outside, path.join(fixture.uploads, "app"));
    await writeFile(path.join(fixture.uploads, "@team"), "a file");
    await fixture.install(app("1.0.0", "new"));
    await fixture.install(buildTgz({ name: "package.json", content: '{"name":"@team/app"}' }));
    expect(await installedMark("1.0.0")).toBe("new");
    expect(existsSync(path.join(fixture.uploads, "@team", "app", "latest", "package.json"))).toBe(true);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("moves a worker that has no version folder into a new version folder", async () => {
    await writeFiles(path.join(fixture.uploads, "app"), { "manifest.yaml": "name: app\nversion: 0.9.0\n", mark: "bare" });
    await fixture.reopen();
    await fixture.install(app("1.0.0", "new"));
    expect(fixture.packages.list()).toMatchObject([{ name: "app", versions: ["1.0.0", "0.9.0"] }]);
    expect(await installedMark("0.9.0")).toBe("bare");
    expect(fixture.retirements).toEqual([
      { folder: path.join(fixture.uploads, "app"), movedTo: path.join(fixture.uploads, "app", "0.9.0") },
    ]);
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual(["app"]);
  });

  test("replaces a worker that has no version folder when both have the same version", async () => {
    await writeFiles(path.join(fixture.uploads, "app"), { "manifest.yaml": "name: app\nversion: 1.0.0\n", mark: "bare" });
    await fixture.reopen();
    await fixture.install(app("1.0.0", "new"));
    expect(fixture.packages.list()).toMatchObject([{ name: "app", versions: ["1.0.0"] }]);
    expect(readdirSync(path.join(fixture.uploads, "app"))).toEqual(["1.0.0"]);
  });
});

describe("the install of a worker version", () => {
  test("changes nothing when the caller lacks the permission for the package name", async () => {
    await fixture.install(app("1.0.0", "old"));
    const before = await treeLines(fixture.root);
    const spool = path.join(fixture.root, "spool");
    await writeFile(spool, app("1.0.0", "new"));
    const names: string[] = [];
    const denied = fixture.packages.install(
      { path: spool, filename: "a.tgz", sizeBytes: 1 },
      {
        authorise: (name) => {
          names.push(name);
          throw new ApiError("NAMESPACE_DENIED", "no");
        },
      },
    );
    await expect(denied).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await rm(spool, { force: true });
    expect(names).toEqual(["app"]);
    expect(await treeLines(fixture.root)).toEqual(before);
  });

  test.for([
    ["a reserved name", "name: cpanel\n", "INVALID_PACKAGE_NAME"],
    ["a name with ..", 'name: "../x"\n', "INVALID_PACKAGE_NAME"],
    ["the version ..", 'name: app\nversion: ".."\n', "INVALID_PACKAGE_VERSION"],
    ["a version that YAML parses as a number", "name: app\nversion: 1.0\n", "INVALID_PACKAGE_VERSION"],
    ["a field of the wrong type", "name: app\nmemory: plenty\n", "INVALID_PACKAGE_METADATA"],
    ["a manifest nested too deeply to parse", "[".repeat(60_000), "INVALID_PACKAGE_METADATA"],
  ] as const)("changes no file when the package has %s", async ([, manifest, code]) => {
    await fixture.install(app("1.0.0", "old"));
    const before = await treeLines(fixture.root);
    await expect(fixture.install(buildTgz({ name: "manifest.yaml", content: manifest }))).rejects.toMatchObject({ code });
    expect(await treeLines(fixture.root)).toEqual(before);
  });

  test("creates no file when the version is already built in", async () => {
    await writeFiles(path.join(fixture.builtIn, "app"), { "manifest.yaml": "name: app\nversion: 1.0.0\n" });
    await fixture.reopen();
    await expect(fixture.install(app("1.0.0"))).rejects.toMatchObject({ code: "BUILT_IN_WORKER_CHANGE_FORBIDDEN" });
    expect(entriesOf(fixture.uploads)).toEqual([]);
  });

  test("creates no file when no package directory can be written", async () => {
    const hidden = path.join(fixture.root, ".image");
    const parentless = path.join(fixture.root, "missing", "workers");
    const file = path.join(fixture.root, "file");
    await writeFile(file, "");
    await mkdir(hidden);
    for (const directories of [[], [hidden], [parentless], [file], [fixture.builtIn]]) {
      const packages = await WorkerPackages.open({ ...fixture.options, directories });
      expect(await packages.canInstall()).toBe(false);
      await writeFile(path.join(fixture.root, "spool"), app("1.0.0"));
      const refused = packages.install(
        { path: path.join(fixture.root, "spool"), filename: "a.tgz", sizeBytes: 1 },
        { authorise: () => undefined },
      );
      await expect(refused).rejects.toMatchObject({ code: "NO_WORKER_DIRS" });
      await packages.close();
    }
    expect(readdirSync(hidden)).toEqual([]);
  });

  test("creates the package directory if it is missing", async () => {
    await fixture.packages.close();
    const fresh = path.join(fixture.root, "fresh");
    const packages = await WorkerPackages.open({
      ...fixture.options,
      directories: [path.join(fixture.root, ".image"), fresh, fixture.uploads],
    });
    expect(await packages.canInstall()).toBe(true);
    await writeFile(path.join(fixture.root, "spool"), app("1.0.0"));
    await packages.install({ path: path.join(fixture.root, "spool"), filename: "a.tgz", sizeBytes: 1 }, { authorise: () => undefined });
    expect(packages.resolve("app", undefined)?.folder).toBe(path.join(fresh, "app", "1.0.0"));
    await packages.close();
  });
});

test("one complete version remains after 20 concurrent installs of that version", async () => {
  const archives = Array.from({ length: 20 }, (_, index) =>
    app(
      "1.0.0",
      `mark ${index}`,
      Array.from({ length: 30 }, (__, file) => ({ name: `package/files/${file}`, content: `${index}` })),
    ),
  );
  await Promise.all(archives.map((archive) => fixture.install(archive)));
  const marks = await treeLines(path.join(fixture.uploads, "app", "1.0.0", "files"));
  expect(marks).toHaveLength(30);
  expect(new Set(marks.map((line) => line.split(" ").at(-1))).size).toBe(1);
  expect(fixture.packages.list()).toMatchObject([{ versions: ["1.0.0"] }]);
  await expect.poll(() => entriesOf(fixture.uploads), { timeout: 20_000 }).toEqual(["app"]);
});

test("different workers of one scope can be installed and deleted concurrently", async () => {
  const names = Array.from({ length: 8 }, (_, index) => `@team/app-${index}`);
  await Promise.all(names.map((name) => fixture.install(named(name))));
  const again = names.map(async (name, index) => {
    if (index % 2) await fixture.packages.remove(name);
    else await fixture.install(named(name));
  });
  await Promise.all(again);
  expect(fixture.packages.list().map(({ name }) => name)).toEqual(names.filter((_, index) => index % 2 === 0));
  await Promise.all(names.filter((_, index) => index % 2 === 0).map((name) => fixture.packages.remove(name)));
  await expect.poll(() => entriesOf(fixture.uploads)).toEqual([]);
});

test("an install on a full disk fails with INSUFFICIENT_STORAGE and leaves no file", async () => {
  const script = path.join(import.meta.dirname, "full-disk-subject.mjs");
  const content = Buffer.from(Array.from({ length: 3_000_000 }, () => Math.floor(Math.random() * 256)));
  const big = path.join(fixture.root, "big.tgz");
  const small = path.join(fixture.root, "small.tgz");
  await writeFile(big, app("1.0.0", "new", [{ name: "package/big", content }]));
  await writeFile(small, app("1.0.0", "old"));
  chmodSync(fixture.root, 0o755);
  const mounted = `mount -t tmpfs -o size=2m,mode=755 tmpfs ${fixture.uploads} && exec "$0" "$@"`;
  const inOwnMounts = ["--user", "--map-root-user", "--mount", "sh", "-c", mounted, process.execPath, script, fixture.uploads, small, big];
  const { stdout } = await run("unshare", inOwnMounts);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect(report).toEqual({ code: "INSUFFICIENT_STORAGE", mark: "old", entries: ["app"], removedAfterwards: true });
});

test("a restart of the package service leaves installed files unchanged", async () => {
  await fixture.install(app("1.0.0", "kept"));
  const before = await treeDigest(fixture.uploads);
  await fixture.reopen();
  expect(await treeDigest(fixture.uploads)).toBe(before);
  expect(fixture.packages.resolve("app", "1")?.version).toBe("1.0.0");
});
