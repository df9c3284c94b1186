import { createWriteStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import { ZipArchive } from "archiver";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TreeWriter } from "../../../src/server/packages/archive/folder-writer.js";
import { unpack } from "../../../src/server/packages/archive/unpack.js";
import { ApiError } from "../../../src/shared/api-error.js";
import { buildTar, longName, paxHeader } from "../../support/build-tar.js";
import { buildZip } from "../../support/build-zip.js";
import { run, writeFiles } from "../../support/pack-archive.js";
import { treeLines } from "../../support/tree-digest.js";

const limits = { maxExpandedSizeBytes: 10 * 1024 ** 2, maxArchiveEntries: 100 };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "archives-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function zipWith(archivePath: string, forceZip64: boolean): Promise<void> {
  const zip = new ZipArchive({ forceZip64 });
  zip.directory(path.join(folder, "package"), "package");
  await Promise.all([pipeline(zip, createWriteStream(archivePath)), zip.finalize()]);
}

const tarInFormat = (format: string) => (archivePath: string) =>
  run("tar", [`--format=${format}`, "-czf", archivePath, "-C", folder, "package"]);

describe("an archive that a common program creates", () => {
  const writers: readonly [name: string, format: "tar" | "zip", write: (archivePath: string) => Promise<unknown>][] = [
    ["GNU tar", "tar", tarInFormat("gnu")],
    ["GNU tar, old format", "tar", tarInFormat("oldgnu")],
    ["GNU tar, pax format", "tar", tarInFormat("posix")],
    ["GNU tar of the folder itself", "tar", (archivePath) => run("tar", ["-czf", archivePath, "-C", path.join(folder, "package"), "."])],
    ["archiver, streamed", "zip", (archivePath) => zipWith(archivePath, false)],
    ["archiver, zip64", "zip", (archivePath) => zipWith(archivePath, true)],
  ];
  test.for(writers)("is unpacked to exactly the packed files (program: %s)", async ([, format, write]) => {
    const long = "l".repeat(120);
    await writeFiles(path.join(folder, "package"), {
      "manifest.yaml": "name: app\n",
      "é/ü.txt": "ü".repeat(70_000),
      empty: "",
      "run.sh": "#!/bin/sh\n",
      [`${long}/${long}`]: "x",
    });
    await writeFile(path.join(folder, "package", "large"), Buffer.alloc(1_500_000, "large"));
    await chmod(path.join(folder, "package", "run.sh"), 0o755);
    const archivePath = path.join(folder, "archive");
    const target = path.join(folder, "target");
    await mkdir(target);
    await write(archivePath);
    const root = await unpack({ archivePath, format, writer: new TreeWriter(target), limits });
    expect(await treeLines(path.join(target, root))).toEqual(await treeLines(path.join(folder, "package")));
  });
});

const manifest = { name: "package/manifest.yaml", content: "name: app\n" };
const sound = {
  tar: buildTar(
    manifest,
    { name: "package/", type: "5" },
    longName(`package/${"l".repeat(120)}`),
    { name: "x", content: "x".repeat(600) },
    paxHeader({ path: "package/é" }),
    { name: "y", content: "y" },
  ),
  zip: buildZip([
    manifest,
    { name: "package/a", content: "a".repeat(600), method: 8 },
    { name: "package/b/", mode: 0o040755 },
    { name: "package/b/c", content: "c" },
  ]),
};

const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 });

test.for(["tar", "zip"] as const)(
  "a damaged %s archive is unpacked only into its target folder, or is rejected",
  { timeout: 120_000 },
  async (format) => {
    const archivePath = path.join(folder, "archive");
    const property = fc.asyncProperty(changes, fc.nat(), async (bytes, cut) => {
      const damaged = Buffer.from(sound[format]);
      for (const [position, byte] of bytes) damaged[position % damaged.length] = byte;
      const kept = cut % 4 === 0 ? damaged.subarray(0, cut % damaged.length) : damaged;
      await writeFile(archivePath, format === "tar" ? gzipSync(kept, { level: 1 }) : kept);
      const target = path.join(folder, "target");
      await mkdir(target);
      const outcome = await unpack({ archivePath, format, writer: new TreeWriter(target), limits }).catch((error: unknown) => error);
      if (typeof outcome !== "string") expect(outcome).toBeInstanceOf(ApiError);
      expect((await treeLines(target)).every((line) => /^(folder|file \d+ 1) /.test(line))).toBe(true);
      await rm(target, { recursive: true });
      expect(await readdir(folder)).toEqual(["archive"]);
    });
    await fc.assert(property, { numRuns: 400 });
  },
);
