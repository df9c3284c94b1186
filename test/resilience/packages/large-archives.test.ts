import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { buildTgz } from "../../support/build-tar.js";
import { openPackages, type PackagesFixture } from "../../integration/packages/packages-fixture.js";

/** Large enough for several chunks, each decompressed while the previous one is written. */
const content = randomBytes(6 * 1024 * 1024).toString("base64");

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
});
afterEach(() => fixture.close());

const archive = () =>
  buildTgz(
    { name: "manifest.yaml", content: "name: app\nversion: 1.0.0\n" },
    { name: "a/large", content },
    { name: "last", content: "end" },
  );

test("the daemon installs all files of a package archive of 6 MB", async () => {
  await fixture.install(archive());
  const installed = (name: string) => readFile(path.join(fixture.uploads, "app/1.0.0", name), "utf8");
  expect((await installed("a/large")) === content).toBe(true);
  expect(await installed("last")).toBe("end");
});

test.each([
  ["damaged in the middle", (bytes: Buffer) => bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 64)],
  ["truncated", (bytes: Buffer) => bytes.subarray(0, -1000)],
  ["followed by other bytes", (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("more")])],
  ["stored with a wrong checksum", (bytes: Buffer) => bytes.fill(0, bytes.length - 8, bytes.length - 4)],
])("the daemon rejects an invalid archive of 6 MB, and no file remains (archive %s)", async (_, spoil) => {
  await expect(fixture.install(spoil(archive()))).rejects.toMatchObject({ code: "INVALID_ARCHIVE" });
  expect(fixture.packages.list()).toEqual([]);
  await expect.poll(() => existsSync(path.join(fixture.uploads, ".staging"))).toBe(false);
});
