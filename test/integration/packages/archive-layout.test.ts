import { stat } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildTgz, longName, paxHeader } from "../../support/build-tar.js";
import { buildZip } from "../../support/build-zip.js";
import { treeLines } from "../../support/tree-digest.js";
import { entriesOf } from "../../support/entries-of.js";
import { openPackages, type PackagesFixture } from "./packages-fixture.js";

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
});
afterEach(() => fixture.close());

describe("an uploaded package archive", () => {
  test("is installed in a folder that is named after the package and its version", async () => {
    expect(await fixture.install(buildTgz({ name: "package/manifest.yaml", content: "name: app\nversion: 1.0.0\n" }))).toEqual({
      name: "app",
      version: "1.0.0",
      installedAt: path.join(fixture.uploads, "app", "1.0.0"),
    });
    const scoped = buildTgz({ name: "package/package.json", content: '{"name":"@team/app","version":"2.0.0"}' });
    expect((await fixture.install(scoped)).installedAt).toBe(path.join(fixture.uploads, "@team", "app", "2.0.0"));
    const unversioned = buildTgz({ name: "manifest.yml", content: "name: plain\n" });
    expect((await fixture.install(unversioned)).installedAt).toBe(path.join(fixture.uploads, "plain", "latest"));
    expect(entriesOf(fixture.uploads).toSorted()).toEqual(["@team", "app", "plain"]);
  });

  const manifest = "name: app\n";
  const layouts: readonly [what: string, archive: Buffer, filename: string, files: string[]][] = [
    [
      "tar: files at the root",
      buildTgz({ name: "manifest.yaml", content: manifest }, { name: "lib/a", content: "" }),
      "a.tgz",
      ["lib/a", "manifest.yaml"],
    ],
    [
      "tar: files at the root with ./ in front",
      buildTgz({ name: "./", type: "5" }, { name: "./manifest.yaml", content: manifest }),
      "a.tgz",
      ["manifest.yaml"],
    ],
    ["tar: package/", buildTgz({ name: "package/manifest.yaml", content: manifest }), "a.tgz", ["manifest.yaml"]],
    ["tar: a single folder of another name", buildTgz({ name: "app-1.0/manifest.yaml", content: manifest }), "a.tgz", ["manifest.yaml"]],
    [
      "tar: a root with a folder named package",
      buildTgz({ name: "package.json", content: '{"name":"app"}' }, { name: "package/package.json", content: "{}" }),
      "a.tgz",
      ["package.json", "package/package.json"],
    ],
    [
      "zip: files at the root",
      buildZip([{ name: "manifest.yaml", content: manifest }, { name: "lib/a" }]),
      "a.zip",
      ["lib/a", "manifest.yaml"],
    ],
    [
      "zip: package/",
      buildZip([
        { name: "package/", mode: 0o040755 },
        { name: "package/manifest.yaml", content: manifest, method: 8 },
      ]),
      "A.ZIP",
      ["manifest.yaml"],
    ],
    [
      "zip: with an archive comment",
      buildZip([{ name: "manifest.yaml", content: manifest }], { comment: Buffer.from("made by hand") }),
      "a.zip",
      ["manifest.yaml"],
    ],
    [
      "tar: long names of both kinds",
      buildTgz(
        { name: "manifest.yaml", content: manifest },
        longName(`${"l".repeat(150)}/x`),
        { name: "x", content: "" },
        paxHeader({ path: `pax-é-${"p".repeat(150)}`, mtime: "1.5" }),
        { name: "y", content: "" },
      ),
      "a.tgz",
      [`${"l".repeat(150)}/x`, "manifest.yaml", `pax-é-${"p".repeat(150)}`],
    ],
    [
      "tar: a prefix in the header, a global comment",
      buildTgz(
        paxHeader({ comment: "abc" }, "g"),
        { name: "manifest.yaml", content: manifest },
        { name: "file", prefix: "some/folder", content: "" },
      ),
      "a.tar.gz",
      ["manifest.yaml", "some/folder/file"],
    ],
  ];
  test.for(layouts)("is installed from each supported format and layout (%s)", async ([, archive, filename, files]) => {
    const { installedAt } = await fixture.install(archive, filename);
    expect((await treeLines(installedAt)).filter((line) => line.startsWith("file")).map((line) => line.split(" ")[3])).toEqual(files);
  });

  test.for([
    ["zip: a single folder of another name", buildZip([{ name: "app-1.0/manifest.yaml", content: manifest }]), "a.zip"],
    ["tar: two folders", buildTgz({ name: "package/manifest.yaml", content: manifest }, { name: "other/a" }), "a.tgz"],
    ["tar: no metadata", buildTgz({ name: "package/index.html" }), "a.tgz"],
  ] as const)("is rejected when its metadata contains no package name (%s)", async ([, archive, filename]) => {
    await expect(fixture.install(archive, filename)).rejects.toMatchObject({ code: "MISSING_PACKAGE_NAME" });
    expect(entriesOf(fixture.uploads)).toEqual([]);
  });

  test("is installed with the file modes 644, 755 and 700, independent of its own modes", async () => {
    const modes = [0o4755, 0o2755, 0o1777, 0, 0o600, 0o111];
    const before = process.umask(0o077);
    try {
      const files = modes.map((mode) => ({ name: `mode-${mode}`, mode }));
      const { installedAt } = await fixture.install(buildTgz({ name: "manifest.yaml", content: "name: app\n" }, ...files));
      for (const mode of modes) {
        const installed = await stat(path.join(installedAt, `mode-${mode}`));
        expect(installed.mode & 0o7777).toBe(mode & 0o111 ? 0o755 : 0o644);
        expect(installed).toMatchObject({ nlink: 1, uid: process.getuid?.() });
      }
      await fixture.packages.setEnabled("app", "latest", false);
      expect((await stat(path.join(installedAt, "manifest.yaml"))).mode & 0o7777).toBe(0o644);
      expect((await stat(installedAt)).mode & 0o7777).toBe(0o700);
      expect((await stat(path.dirname(installedAt))).mode & 0o7777).toBe(0o755);
    } finally {
      process.umask(before);
    }
  });
});
