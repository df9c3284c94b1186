import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildTgz } from "../../support/build-tar.js";
import { treeLines } from "../../support/tree-digest.js";
import { hostileArchives } from "./hostile-archives.js";
import { entriesOf } from "../../support/entries-of.js";
import { openPackages, type PackagesFixture } from "../../integration/packages/packages-fixture.js";

describe("the upload of a hostile archive", () => {
  let fixture: PackagesFixture;
  let before: string[];

  beforeAll(async () => {
    fixture = await openPackages();
    await fixture.install(
      buildTgz({ name: "package/manifest.yaml", content: "name: victim\nversion: 1.0.0\n" }, { name: "package/a", content: "a" }),
    );
    await mkdir(path.join(fixture.root, "outside"));
    before = await treeLines(fixture.root);
  });
  afterAll(() => fixture.close());

  test.for(hostileArchives)("is rejected and changes nothing (archive: $what, code: $code)", async ({ bytes, filename, code }) => {
    await expect(fixture.install(bytes, filename)).rejects.toMatchObject({ code });
    expect(await treeLines(fixture.root)).toEqual(before);
    expect(entriesOf(fixture.uploads)).toEqual(["victim"]);
    expect(fixture.retirements).toEqual([]);
  });

  test("does not prevent the later install of a valid archive", async () => {
    const { installedAt } = await fixture.install(buildTgz({ name: "package/manifest.yaml", content: "name: other\n" }), "A.TAR.GZ");
    expect(await readFile(path.join(installedAt, "manifest.yaml"), "utf8")).toBe("name: other\n");
  });
});
