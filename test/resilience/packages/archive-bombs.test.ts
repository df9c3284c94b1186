import { writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gzippedZeros } from "../../support/build-archive-bomb.js";
import { buildTgz, tarEnd, tarEntry } from "../../support/build-tar.js";
import { buildZip } from "../../support/build-zip.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { treeLines } from "../../support/tree-digest.js";
import { openPackages, type PackagesFixture } from "../../integration/packages/packages-fixture.js";

const gigabyte = 1024 ** 3;
const mostExtraBytes = 100 * 1024 ** 2;
const manifest = { name: "package/manifest.yaml", content: "name: bomb\n" };

/** Size field of an entry of 20 GB in the format of GNU tar. */
function binarySize(bytes: number): Buffer {
  const field = Buffer.alloc(12);
  field.writeBigUInt64BE(BigInt(bytes), 4);
  field[0] = 0x80;
  return field;
}

function smallPackage(fileCount: number, bytesEach: number): Buffer {
  const files = Array.from({ length: fileCount }, (_, index) => ({ name: `file-${index}`, content: "x".repeat(bytesEach) }));
  return buildTgz(...files, { name: "manifest.yaml", content: "name: a\n" });
}

function manyEntries(count: number): Buffer {
  const entries = Array.from({ length: count }, (_, index) => tarEntry({ name: `package/files/${index}` }));
  return gzipSync(Buffer.concat([tarEntry(manifest), ...entries, tarEnd]), { level: 1 });
}

const archiveBombs: readonly { what: string; filename: string; build: () => Promise<Buffer> | Buffer }[] = [
  {
    what: "20 GB of zeros as one file",
    filename: "bomb.tgz",
    build: () =>
      gzippedZeros(
        Buffer.concat([tarEntry(manifest), tarEntry({ name: "package/zeros", rawSize: binarySize(20 * gigabyte) })]),
        20 * gigabyte,
      ),
  },
  { what: "20 GB of zeros after the end mark", filename: "bomb.tgz", build: () => gzippedZeros(tarEntry(manifest), 20 * gigabyte) },
  { what: "20 GB of zeros that are not an archive", filename: "bomb.tgz", build: () => gzippedZeros(Buffer.alloc(0), 20 * gigabyte) },
  {
    what: "a file just below the limit, of zeros only",
    filename: "bomb.tgz",
    build: () =>
      gzippedZeros(
        Buffer.concat([tarEntry(manifest), tarEntry({ name: "package/zeros", rawSize: binarySize(gigabyte / 2) })]),
        gigabyte / 2,
      ),
  },
  { what: "300,000 entries", filename: "bomb.tgz", build: () => manyEntries(300_000) },
  {
    what: "a zip of 60,000 entries",
    filename: "bomb.zip",
    build: () => buildZip([manifest, ...Array.from({ length: 60_000 }, (_, index) => ({ name: `package/${index}` }))]),
  },
  {
    what: "a zip of zeros",
    filename: "bomb.zip",
    build: () => buildZip([manifest, { name: "package/zeros", content: Buffer.alloc(128 * 1024 ** 2), method: 8 }]),
  },
];

describe("the limits for unpacked size and number of entries of an archive", () => {
  let fixture: PackagesFixture;

  beforeAll(async () => {
    fixture = await openPackages({ limits: { maxArchiveEntries: 10_000, maxExpandedSizeBytes: gigabyte } });
  });
  afterAll(() => fixture.close());

  test.for(archiveBombs)(
    "reject an archive above the limits and delete all its files ($what)",
    { timeout: 120_000 },
    async ({ build, filename }) => {
      const archivePath = path.join(fixture.root, filename);
      await writeFile(archivePath, await build());
      const before = await treeLines(fixture.root);
      collectGarbage();
      const highest = watchMemory();
      const startedAt = performance.now();
      await expect(fixture.install(archivePath, filename)).rejects.toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
      expect(performance.now() - startedAt).toBeLessThan(30_000);
      expect(highest()).toBeLessThan(mostExtraBytes);
      // Files of a large archive are deleted after the response.
      await expect.poll(() => treeLines(fixture.root).catch(() => []), { timeout: 60_000, interval: 100 }).toEqual(before);
    },
  );

  test("permit a small package that is highly compressed", async () => {
    const { name } = await fixture.install(
      buildTgz({ name: "manifest.yaml", content: "name: zeros\n" }, { name: "zeros", content: Buffer.alloc(30 * 1024 ** 2) }),
    );
    expect(name).toBe("zeros");
  });

  test("reject an archive with one entry or byte above the configured maximum", async () => {
    const strict = await openPackages({ limits: { maxArchiveEntries: 3, maxExpandedSizeBytes: 1000 } });
    await expect(strict.install(smallPackage(3, 1))).rejects.toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
    await expect(strict.install(smallPackage(2, 497))).rejects.toMatchObject({ code: "ARCHIVE_TOO_LARGE" });
    await expect(strict.install(smallPackage(2, 496))).resolves.toMatchObject({ name: "a" });
    await strict.close();
  });
});

/** Returns a function that returns the largest growth of this process's memory since the call. */
function watchMemory(): () => number {
  const start = process.memoryUsage.rss();
  let highest = start;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 10);
  return () => {
    clearInterval(timer);
    return Math.max(highest, process.memoryUsage.rss()) - start;
  };
}
