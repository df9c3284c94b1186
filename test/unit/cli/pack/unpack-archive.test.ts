import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { unpackArchive } from "../../../../src/cli/pack/unpack-archive.js";
import { buildZip } from "../../../support/build-zip.js";
import { tarEnd, tarEntry } from "../../../support/build-tar.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";
import { treeDigest } from "../../../support/tree-digest.js";

const files = { "package/manifest.yaml": "name: app\n", "package/lib/a.js": "abc" };

async function unpack(name: string, bytes: Uint8Array) {
  const directory = await temporaryDirectory();
  const archive = path.join(directory, name);
  await writeFile(archive, bytes);
  const target = path.join(directory, "unpacked");
  await mkdir(target);
  return { directory, unpacking: unpackArchive(archive, target) };
}

const tar = (...entries: Parameters<typeof tarEntry>[0][]) => gzipSync(Buffer.concat([...entries.map(tarEntry), tarEnd]));
const zip = (entries: Readonly<Record<string, string>>) => buildZip(Object.entries(entries).map(([name, content]) => ({ name, content })));

test.each([
  ["app.tgz", tar(...Object.entries(files).map(([name, content]) => ({ name, content })))],
  ["app.zip", zip(files)],
])("unpackArchive unpacks the files of the archive %s into the package folder", async (name, bytes) => {
  const { folder, files: unpacked } = await (await unpack(name, bytes)).unpacking;
  expect(unpacked.map((file) => [file.path, file.sizeBytes])).toEqual([
    ["lib/a.js", 3],
    ["manifest.yaml", 10],
  ]);
  expect(await readFile(path.join(folder, "lib/a.js"), "utf8")).toBe("abc");
});

test("unpackArchive keeps the executable permission of files", async () => {
  const bytes = tar({ name: "manifest.yaml", content: "name: app\n" }, { name: "tool", content: "#!", mode: 0o755 });
  const { files: unpacked } = await (await unpack("app.tgz", bytes)).unpacking;
  expect(unpacked.map((file) => [file.path, file.executable])).toEqual([
    ["manifest.yaml", false],
    ["tool", true],
  ]);
});

describe("unpackArchive", () => {
  test.each<[string, string, Uint8Array, string]>([
    ["an entry with ../ in a tar", "a.tgz", tar({ name: "../evil", content: "x" }), "PATH_TRAVERSAL"],
    ["an absolute name, in a tar", "a.tgz", tar({ name: "/evil", content: "x" }), "PATH_TRAVERSAL"],
    ["an entry with ../ in a zip", "a.zip", zip({ "../evil": "x" }), "INVALID_ARCHIVE"],
    ["a symbolic link", "a.tgz", tar({ name: "link", type: "2", linkTarget: "index.js" }), "UNSUPPORTED_ENTRY"],
    ["a device", "a.tgz", tar({ name: "device", type: "3" }), "UNSUPPORTED_ENTRY"],
    ["two names that differ only in case", "a.tgz", tar({ name: "A", content: "x" }, { name: "a", content: "y" }), "INVALID_ARCHIVE"],
    ["no files", "a.tgz", tar(), "INVALID_ARCHIVE"],
    ["an invalid tar", "a.tgz", Buffer.from("no archive at all"), "INVALID_ARCHIVE"],
    ["an invalid zip", "a.zip", Buffer.from("no archive at all"), "INVALID_ARCHIVE"],
  ])("rejects an invalid archive and writes nothing outside the target (content: %s)", async (_, name, bytes, code) => {
    const { directory, unpacking } = await unpack(name, bytes);
    await expect(unpacking).rejects.toMatchObject({ code });
    expect(await treeDigest(directory)).not.toContain("evil");
    await expect(readFile(path.join(directory, "evil"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
