import { existsSync, readdirSync } from "node:fs";
import { readFile, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WorkerPackages } from "../../../src/server/packages/worker-packages.js";
import { buildTgz } from "../../support/build-tar.js";
import { entriesOf } from "../../support/entries-of.js";
import { writeFiles } from "../../support/pack-archive.js";
import { treeLines } from "../../support/tree-digest.js";
import { openPackages, type PackagesFixture } from "./packages-fixture.js";

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
  await writeFiles(fixture.builtIn, {
    "panel/manifest.yaml": "name: panel\nversion: 1.0.0\n",
    "mixed/manifest.yaml": "name: mixed\nversion: 1.0.0\n",
  });
  await writeFiles(fixture.uploads, {
    "app/1.0.0/manifest.yaml": "# ours\nname: app\nversion: 1.0.0 # one\n",
    "app/2.0.0/package.json": '{"name":"app","version":"2.0.0"}',
    "@team/tool/1.0.0/manifest.yaml": "name: '@team/tool'\nversion: 1.0.0\n",
    "@team/other/1.0.0/manifest.yaml": "name: '@team/other'\nversion: 1.0.0\n",
    "mixed/2.0.0/manifest.yaml": "name: mixed\nversion: 2.0.0\n",
  });
  await fixture.reopen();
});
afterEach(() => fixture.close());

const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);
const answering = (name: string) => fixture.packages.resolve(name, undefined)?.version;

describe("the change that enables or disables a worker version", () => {
  test("changes the active version and leaves the rest of each manifest unchanged", async () => {
    expect(answering("app")).toBe("2.0.0");
    await fixture.packages.setEnabled("app", "2.0.0", false);
    expect(answering("app")).toBe("1.0.0");
    await fixture.packages.setEnabled("app", "1.0.0", false);
    expect(answering("app")).toBeUndefined();
    expect(fixture.packages.list()).toContainEqual(
      expect.objectContaining({ name: "app", versions: ["2.0.0", "1.0.0"], disabledVersions: ["2.0.0", "1.0.0"] }),
    );
    expect(await readFile(inUploads("app/2.0.0/manifest.yaml"), "utf8")).toBe("enabled: false\n");
    expect(await readFile(inUploads("app/1.0.0/manifest.yaml"), "utf8")).toBe("# ours\nenabled: false\nname: app\nversion: 1.0.0 # one\n");
    await fixture.packages.setEnabled("app", "2.0.0", true);
    expect(answering("app")).toBe("2.0.0");
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual(["@team", "app", "mixed"]);
    await fixture.reopen();
    expect(answering("app")).toBe("2.0.0");
  });

  test("passes a disabled version to the `retire` callback after another becomes active", async () => {
    let answerAtRetirement: string | undefined = "never retired";
    Object.assign(fixture.options, { retire: async () => void (answerAtRetirement = answering("app")) });
    await fixture.packages.setEnabled("app", "2.0.0", false);
    expect(answerAtRetirement).toBe("1.0.0");
  });

  test("fails when the folder of the version has vanished", async () => {
    await rm(inUploads("app/2.0.0"), { recursive: true });
    await expect(fixture.packages.setEnabled("app", "2.0.0", false)).rejects.toThrow();
    expect(existsSync(inUploads("app/2.0.0"))).toBe(false);
  });

  test("changes no file when the version already has the requested state", async () => {
    const before = await treeLines(fixture.uploads);
    await fixture.packages.setEnabled("app", "2.0.0", true);
    expect(await treeLines(fixture.uploads)).toEqual(before);
    expect(fixture.retirements).toEqual([]);
  });

  test("applies the last of 100 concurrent changes", async () => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => fixture.packages.setEnabled("app", "1.0.0", index % 2 === 0)));
    expect(await readFile(inUploads("app/1.0.0/manifest.yaml"), "utf8")).toBe("# ours\nenabled: false\nname: app\nversion: 1.0.0 # one\n");
    expect(fixture.packages.resolve("app", "1.0.0")).toBeUndefined();
  });

  test.for([
    ["an unknown worker", "nothing", "1.0.0", "WORKER_NOT_FOUND"],
    ["an unknown version", "app", "9.0.0", "WORKER_VERSION_NOT_FOUND"],
    ["a built-in version", "panel", "1.0.0", "BUILT_IN_WORKER_CHANGE_FORBIDDEN"],
    ["a built-in version of a worker that was also uploaded", "mixed", "1.0.0", "BUILT_IN_WORKER_CHANGE_FORBIDDEN"],
  ] as const)("fails without any change when the request names %s", async ([, name, version, code]) => {
    const before = await treeLines(fixture.root);
    await expect(fixture.packages.setEnabled(name, version, false)).rejects.toMatchObject({ code });
    expect(await treeLines(fixture.root)).toEqual(before);
    expect(fixture.retirements).toEqual([]);
  });
});

describe("the deletion of workers and versions", () => {
  test("removes one version, and its parent folders when they are empty", async () => {
    await fixture.packages.removeVersion("app", "2.0.0");
    expect(answering("app")).toBe("1.0.0");
    await fixture.packages.removeVersion("app", "1.0.0");
    await fixture.packages.removeVersion("@team/tool", "1.0.0");
    expect(answering("app")).toBeUndefined();
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual(["@team", "mixed"]);
    expect(readdirSync(inUploads("@team"))).toEqual(["other"]);
    await fixture.packages.remove("@team/other");
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual(["mixed"]);
  });

  test("removes all versions of a worker and passes each folder to the `retire` callback", async () => {
    const filesAtRetirement: string[][] = [];
    Object.assign(fixture.options, {
      retire: async (folder: string, movedTo: string) => {
        expect(existsSync(folder)).toBe(false);
        expect(answering("app")).toBeUndefined();
        filesAtRetirement.push(readdirSync(movedTo));
      },
    });
    await fixture.packages.remove("app");
    expect(filesAtRetirement).toEqual([["manifest.yaml"], ["package.json"]]);
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual(["@team", "mixed"]);
  });

  test("removes only the uploaded versions of a built-in worker", async () => {
    await fixture.packages.remove("mixed");
    expect(fixture.packages.list()).toContainEqual(expect.objectContaining({ name: "mixed", source: "built-in", versions: ["1.0.0"] }));
    expect(answering("mixed")).toBe("1.0.0");
    await expect(fixture.packages.remove("mixed")).rejects.toMatchObject({ code: "BUILT_IN_WORKER_REMOVE_FORBIDDEN" });
  });

  test("removes a version from each package directory that contains it", async () => {
    await fixture.packages.close();
    const second = path.join(fixture.root, "second");
    await writeFiles(second, { "app/2.0.0/manifest.yaml": "name: app\nversion: 2.0.0\n" });
    const packages = await WorkerPackages.open({ ...fixture.options, directories: [fixture.uploads, second] });
    await packages.removeVersion("app", "2.0.0");
    expect(packages.resolve("app", "2.0.0")).toBeUndefined();
    await packages.close();
    expect(entriesOf(second)).toEqual([]);
  });

  test("removes links to the deleted version, and keeps versions of other workers", async () => {
    await symlink("../app/2.0.0", inUploads("mixed", "linked"));
    await fixture.reopen();
    await fixture.packages.removeVersion("app", "2.0.0");
    await expect.poll(() => readdirSync(inUploads("mixed"))).toEqual(["2.0.0"]);
    expect(answering("mixed")).toBe("2.0.0");
  });

  test("keeps another worker that is stored inside the deleted version's folder", async () => {
    await writeFiles(fixture.uploads, { "app/tool/manifest.yaml": "name: tool\n" });
    await fixture.reopen();
    await fixture.packages.remove("app");
    expect(answering("tool")).toBe("latest");
    expect(readdirSync(inUploads("app"))).toEqual(["tool"]);
  });

  test.for([
    ["an unknown worker", "nothing", undefined, "WORKER_NOT_FOUND"],
    ["an unknown version", "app", "9.0.0", "WORKER_VERSION_NOT_FOUND"],
    ["a version of an unknown worker", "nothing", "1.0.0", "WORKER_NOT_FOUND"],
    ["a built-in worker", "panel", undefined, "BUILT_IN_WORKER_REMOVE_FORBIDDEN"],
    ["a built-in version", "panel", "1.0.0", "BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN"],
    ["a built-in version of a worker that was also uploaded", "mixed", "1.0.0", "BUILT_IN_WORKER_VERSION_REMOVE_FORBIDDEN"],
  ] as const)("fails without any change when the request names %s", async ([, name, version, code]) => {
    const before = await treeLines(fixture.root);
    const removing = version === undefined ? fixture.packages.remove(name) : fixture.packages.removeVersion(name, version);
    await expect(removing).rejects.toMatchObject({ code });
    expect(await treeLines(fixture.root)).toEqual(before);
    expect(fixture.retirements).toEqual([]);
  });

  test("keeps files and worker list consistent when changes are concurrent", async () => {
    const archive = buildTgz({ name: "manifest.yaml", content: "name: racing\nversion: 1.0.0\n" }, { name: "a", content: "a" });
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.allSettled([
        fixture.install(archive),
        fixture.packages.remove("racing"),
        fixture.install(archive),
        fixture.packages.removeVersion("racing", "1.0.0"),
      ]);
      for (const outcome of outcomes)
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: expect.stringMatching(/NOT_FOUND$/) });
      const isThere = existsSync(inUploads("racing", "1.0.0", "a"));
      expect(answering("racing")).toBe(isThere ? "1.0.0" : undefined);
      expect(existsSync(inUploads("racing"))).toBe(isThere);
    }
  });
});
