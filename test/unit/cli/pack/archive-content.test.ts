import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { readArchiveContent } from "../../../../src/cli/pack/archive-content.js";
import { archiveSource, readPackageInfo } from "../../../../src/cli/pack/package-info.js";
import { manifestOf, packFiles } from "../../../support/pack-files.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

async function contentOf(bytes: Uint8Array) {
  const file = path.join(await temporaryDirectory(), "ready.tgz");
  await writeFile(file, bytes);
  return await readArchiveContent(file);
}

test.each([["package"], ["shop-1.0.0"], [""]])(
  "readArchiveContent lists the files of an archive relative to the top folder %j",
  async (prefix) => {
    const content = await contentOf(
      await packFiles({ "manifest.yaml": manifestOf("shop", "1.2.0"), "lib/a.js": "abc", "index.html": "" }, prefix),
    );
    expect(content?.files).toEqual([
      { path: "index.html", sizeBytes: 0 },
      { path: "lib/a.js", sizeBytes: 3 },
      { path: "manifest.yaml", sizeBytes: expect.any(Number) },
    ]);
    if (!content) throw new Error("the archive was not read");
    expect(await readPackageInfo(archiveSource("ready.tgz", content))).toMatchObject({
      name: "shop",
      version: "1.2.0",
      entrypoint: "index.html",
    });
  },
);

test("readArchiveContent rejects an archive whose metadata has no name", async () => {
  const content = await contentOf(await packFiles({ "package.json": `{"version":"1.0.0"}` }));
  if (!content) throw new Error("the archive was not read");
  await expect(readPackageInfo(archiveSource("ready.tgz", content))).rejects.toMatchObject({ code: "MISSING_PACKAGE_NAME" });
});

test("readArchiveContent returns undefined for an archive that cannot be read", async () => {
  expect(await contentOf(Buffer.from("no archive at all"))).toBeUndefined();
  expect(await contentOf((await packFiles({ "package.json": "{}" })).subarray(0, 40))).toBeUndefined();
});
