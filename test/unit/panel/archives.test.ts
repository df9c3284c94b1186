import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { packFolder } from "../../../src/cpanel/upload/pack-folder.js";
import { readPackageInfo } from "../../../src/cpanel/upload/package-info.js";
import { readArchive } from "../../../src/cpanel/upload/read-archive.js";
import { buildTar, buildTgz, longName, paxHeader, type TarEntry } from "../../support/build-tar.js";
import { buildZip } from "../../support/build-zip.js";
import { memoryFolder } from "./memory-folder.js";

const { signal } = new AbortController();
const manifest = "name: '@team/shop'\nversion: 1.4.2\n";

function archive(name: string, bytes: Buffer): File {
  return new File([Uint8Array.from(bytes)], name);
}

const tgz = (...parts: readonly (Buffer | TarEntry)[]) => readArchive(archive("shop.tgz", buildTgz(...parts)), signal);

describe("readArchive", () => {
  test("reads metadata and file names below the top folder of a gzipped tar archive", async () => {
    const text = await tgz(
      { name: "package/", type: "5" },
      { name: "package/manifest.yaml", content: manifest },
      { name: "package/dist/index.html", content: "<p>" },
    );
    expect(text.fileCount).toBe(2);
    expect(await text.read("manifest.yaml")).toBe(manifest);
    expect(await text.isFile("dist/index.html")).toBe(true);
    expect(await text.isFile("package/manifest.yaml")).toBe(false);
    expect(await text.isFile("dist")).toBe(false);
  });

  test("reads an archive without a top folder", async () => {
    const text = await tgz({ name: "./manifest.yaml", content: manifest }, { name: "./index.js" });
    expect([await text.read("manifest.yaml"), await text.isFile("index.js")]).toEqual([manifest, true]);
  });

  test("ignores a package.json in a subfolder", async () => {
    const text = await tgz({ name: "manifest.yaml", content: manifest }, { name: "a/b/package.json", content: "{}" });
    expect(await text.read("a/b/package.json")).toBeUndefined();
    expect(await text.isFile("a/b/package.json")).toBe(true);
  });

  test.each([
    ["a pax header", (name: string) => paxHeader({ path: name })],
    ["a GNU long name", (name: string) => longName(name)],
  ])("reads a file name longer than 100 characters from %s", async (_what, header) => {
    const name = `package/${"long/".repeat(30)}index.js`;
    const text = await tgz({ name: "package/manifest.yaml", content: manifest }, header(name), { name: "cut-off" });
    expect(await text.isFile(name.slice("package/".length))).toBe(true);
    expect(text.fileCount).toBe(2);
  });

  test("joins the prefix and the name of a ustar header", async () => {
    const text = await tgz({ name: "manifest.yaml", content: manifest }, { name: "index.js", prefix: "dist" });
    expect(await text.isFile("dist/index.js")).toBe(true);
  });

  test("ignores symbolic links in an archive", async () => {
    const text = await tgz({ name: "manifest.yaml", content: manifest }, { name: "passwd", type: "2", linkTarget: "/etc/passwd" });
    expect([text.fileCount, await text.isFile("passwd")]).toEqual([1, false]);
  });

  test("reads metadata and file names of a zip archive", async () => {
    const files = [
      { name: "package/manifest.yaml", content: manifest, method: 8 },
      { name: "package/index.html", content: "<p>" },
    ];
    const text = await readArchive(archive("shop.ZIP", buildZip(files)), signal);
    expect([text.fileCount, await text.read("manifest.yaml"), await text.isFile("index.html")]).toEqual([2, manifest, true]);
  });

  test("removes the top folder of a zip archive only if its name is package", async () => {
    const text = await readArchive(archive("a.zip", buildZip([{ name: "shop/manifest.yaml", content: manifest }])), signal);
    expect([await text.read("manifest.yaml"), await text.isFile("shop/manifest.yaml")]).toEqual([undefined, true]);
  });

  test.each([
    ["../escape.js", "tar"],
    ["/etc/passwd", "tar"],
    ["../escape.js", "zip"],
  ])("rejects the entry path %s in a %s archive", async (name, format) => {
    const entries = [{ name, content: "x" }];
    const file = format === "tar" ? archive("a.tgz", buildTgz(...entries)) : archive("a.zip", buildZip(entries));
    await expect(readArchive(file, signal)).rejects.toMatchObject({ status: 400 });
  });

  test.each([
    ["a truncated tar archive", "a.tgz", gzipSync(buildTar({ name: "index.js", content: "x".repeat(2000) }).subarray(0, 1000))],
    ["a truncated gzip stream", "a.tgz", buildTgz({ name: "index.js", content: "x".repeat(2000) }).subarray(0, 40)],
    ["a .tar.gz file that is not gzip", "a.tar.gz", Buffer.from("plain text")],
    ["a header with an invalid size", "a.tgz", buildTgz({ name: "a", rawSize: Buffer.from("zzzzzzzzzzzz") })],
    ["a .zip file that is not a zip archive", "a.zip", Buffer.from("plain text")],
  ])("rejects %s as an invalid archive", async (_what, name, bytes) => {
    await expect(readArchive(archive(name, bytes), signal)).rejects.toMatchObject({ code: "INVALID_ARCHIVE" });
  });

  test("rejects a file without an archive extension", async () => {
    await expect(readArchive(archive("notes.txt", Buffer.from("")), signal)).rejects.toMatchObject({ code: "INVALID_FILE_TYPE" });
  });
});

const facts = (files: Readonly<Record<string, string>>, kind: "worker" | "plugin" = "worker") =>
  readPackageInfo({ read: async (path) => files[path], isFile: async (path) => Object.hasOwn(files, path) }, kind);

describe("readPackageInfo", () => {
  test("prefers the manifest to package.json", async () => {
    const files = { "manifest.yaml": "name: shop\n", "package.json": '{"name":"other","version":"2.0.0"}', "index.js": "" };
    expect(await facts(files)).toMatchObject({
      name: "shop",
      version: "2.0.0",
      isEnabled: true,
      entrypoint: "index.js",
      metadataFiles: ["manifest.yaml", "package.json"],
    });
  });

  test.each([
    [
      "the entrypoint of the manifest",
      { "manifest.yaml": "name: a\nentrypoint: ./dist/index.html\n", "dist/index.html": "", "index.js": "" },
      "dist/index.html",
    ],
    ["index.html before index.js", { "manifest.yaml": "name: a\n", "index.js": "", "index.html": "" }, "index.html"],
    ["main of package.json", { "package.json": '{"name":"a","main":"./lib/main"}', "lib/main.js": "" }, "lib/main.js"],
    ["nothing when the declared file is missing", { "manifest.yaml": "name: a\nentrypoint: gone.js\n", "index.js": "" }, undefined],
  ])("returns the entrypoint (case: %s)", async (_what, files, entrypoint) => {
    expect((await facts(files)).entrypoint).toBe(entrypoint);
  });

  test("detects a plugin by the keys of its manifest, and returns its module path", async () => {
    const files = { "manifest.yml": "name: guard\nbase: /guard\n", "plugin.js": "" };
    expect(await facts(files, "plugin")).toMatchObject({ isPlugin: true, pluginEntry: "plugin.js", entrypoint: undefined });
    expect(await facts(files)).toMatchObject({ isPlugin: true, pluginEntry: undefined });
  });

  test("reads enabled: false, and returns `latest` if no version is declared", async () => {
    expect(await facts({ "manifest.yaml": "name: a\nenabled: false\n" })).toMatchObject({ isEnabled: false, version: "latest" });
  });

  test.each([
    ["no metadata", {}],
    ["an invalid name", { "manifest.yaml": "name: Not A Name\n" }],
    ["a package.json that is not an object", { "package.json": "[1]" }],
    ["a package.json with invalid JSON", { "package.json": "{" }],
    ["a manifest with invalid YAML", { "manifest.yaml": "a: [" }],
  ])("rejects a package with %s", async (_what, files) => {
    await expect(facts(files)).rejects.toMatchObject({ status: 400 });
  });
});

describe("packFolder", () => {
  test("packs the files of a plan into an archive that readArchive can read", async () => {
    const longPath = `${"deep/".repeat(25)}index.js`;
    const folder = memoryFolder("shop", { "manifest.yaml": manifest, [longPath]: "x".repeat(513), "excluded.txt": "no" });
    const plan = { facts: await factsOf(folder), files: ["manifest.yaml", longPath], excluded: [] };
    const packed = await packFolder(folder, plan, signal);
    const text = await readArchive(new File([packed], "shop.tgz"), signal);
    expect(text.fileCount).toBe(2);
    expect(await text.read("manifest.yaml")).toBe(manifest);
    expect(await text.isFile(longPath)).toBe(true);
  });

  test("rejects when a file in the plan does not exist", async () => {
    const folder = memoryFolder("shop", { "manifest.yaml": manifest });
    const plan = { facts: await factsOf(folder), files: ["gone.js"], excluded: [] };
    await expect(packFolder(folder, plan, signal)).rejects.toThrow("gone.js does not exist any more");
  });
});

function factsOf(folder: ReturnType<typeof memoryFolder>) {
  return readPackageInfo({ read: async (path) => (await folder.open(path))?.text(), isFile: async () => false }, "worker");
}
