import { execFileSync } from "node:child_process";
import { chmod, readFile, stat, utimes } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { CommandError } from "../../../src/cli/command/command-error.js";
import { planPack } from "../../../src/cli/pack/pack-plan.js";
import { writeArchive, type Archive } from "../../../src/cli/pack/write-archive.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";
import { writeTree } from "../../support/write-tree.js";

const signal = new AbortController().signal;
const key = `rtk_${"k".repeat(43)}`;
const longName = `${"long/".repeat(30)}${"n".repeat(120)}.js`;

async function pack(folder: string, target: string): Promise<Archive> {
  return writeArchive((await planPack(folder)).files, target, signal);
}

async function appFolder(more: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const folder = path.join(await temporaryDirectory(), "app");
  await writeTree(folder, { "manifest.yaml": "name: app\n", "index.js": "1", [longName]: "2", "ünïcode 名.js": "3", empty: "", ...more });
  return folder;
}

test("two archives are equal when their folders differ only in times and file modes", async () => {
  const folder = await appFolder({ "large.bin": Buffer.alloc(3_000_000, "large") });
  const first = await pack(folder, `${folder}-1.tgz`);
  await utimes(path.join(folder, "index.js"), 1, 2);
  await chmod(path.join(folder, "index.js"), 0o700);
  await chmod(path.join(folder, "large.bin"), 0o400);
  expect(await pack(folder, `${folder}-2.tgz`)).toEqual(first);
  expect((await readFile(`${folder}-1.tgz`)).equals(await readFile(`${folder}-2.tgz`))).toBe(true);
  await writeTree(folder, { "index.js": "other" });
  expect((await pack(folder, `${folder}-3.tgz`)).sha256).not.toBe(first.sha256);
});

test("tar can read an archive; all entries are sorted and have the same owner and time", async () => {
  const folder = await appFolder();
  const archive = await pack(folder, `${folder}.tgz`);
  expect((await stat(`${folder}.tgz`)).size).toBe(archive.sizeBytes);
  const names = execFileSync("tar", ["tzf", `${folder}.tgz`, "--quoting-style=literal"], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect(names).toEqual(["empty", "index.js", longName, "manifest.yaml", "ünïcode 名.js"].map((name) => `package/${name}`));
  const lines = execFileSync("tar", ["tzvf", `${folder}.tgz`, "--numeric-owner", "--utc"], { encoding: "utf8" })
    .trim()
    .split("\n");
  for (const line of lines) expect(line).toMatch(/^-rw-r--r-- 0\/0 +\d+ 1985-10-26 08:15 /);
  const unpacked = await temporaryDirectory();
  await chmod(folder, 0o755);
  execFileSync("tar", ["xzf", `${folder}.tgz`, "-C", unpacked, "--strip-components=1"]);
  expect(await treeDigest(unpacked)).toBe(await treeDigest(folder));
});

test("the gzip header of an archive contains neither a time nor an operating system", async () => {
  const folder = await appFolder();
  await pack(folder, `${folder}.tgz`);
  const bytes = await readFile(`${folder}.tgz`);
  expect([...bytes.subarray(4, 8), bytes[9]]).toEqual([0, 0, 0, 0, 255]);
  expect(gunzipSync(bytes).length % 512).toBe(0);
});

test.each([
  ["in a small file", `const key = "${key}";`],
  ["at the end of a large file", `${" ".repeat(2_000_000)}${key}`],
  ["across two chunks of a large file", `${" ".repeat(64 * 1024 - 20)}${key}${" ".repeat(2_000_000)}`],
])("packing fails for a file with an API key, and the error omits the key (at %s)", async (_, text) => {
  const folder = await appFolder({ "src/config.js": text });
  const error: unknown = await pack(folder, `${folder}.tgz`).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandError);
  expect(error).toMatchObject({ code: "SECRET_FOUND", exitCode: 1 });
  expect((error as Error).message).toContain("src/config.js");
  expect((error as Error).message).not.toContain(key);
});

test("packing succeeds for a file that contains only the public prefix of an API key", async () => {
  const folder = await appFolder({ "notes.md": "the key rtk_V5gNhTQO ends in May" });
  await expect(pack(folder, `${folder}.tgz`)).resolves.toMatchObject({ sizeBytes: expect.any(Number) as number });
});
