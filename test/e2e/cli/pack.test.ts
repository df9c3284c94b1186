import { createHash } from "node:crypto";
import { chmod, cp, readdir, readFile, utimes } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
  await writeTree(shell.home, {
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default {};\n",
    "app/tls/server.key": "secret",
    "app/.env": "SECRET=1",
    "app/.gitignore": "*.log\n",
    "app/a.log": "",
  });
});

afterAll(() => shell?.close());

test("pack writes equal archives if only times, modes or the folder's path differ", async () => {
  const first = await shell.run("pack app");
  expect(first.status, first.stderr).toBe(0);
  expect(first.stdout).toMatch(/^[0-9a-f]{64} {2}app-1\.0\.0\.tgz\n$/);
  const bytes = await readFile(path.join(shell.home, "app-1.0.0.tgz"));
  expect(first.stdout).toContain(createHash("sha256").update(bytes).digest("hex"));

  await utimes(path.join(shell.home, "app/index.js"), 1, 2);
  await chmod(path.join(shell.home, "app/index.js"), 0o755);
  expect((await shell.run("pack app")).stdout).toBe(first.stdout);
  await cp(path.join(shell.home, "app"), path.join(shell.home, "deep/er/other"), { recursive: true });
  await cp(path.join(shell.home, "app-1.0.0.tgz"), path.join(shell.home, "app/app-0.9.0.tgz"));
  await shell.run("pack deep/er/other -o other.tgz");
  await shell.run("pack app -o again.tgz");
  for (const name of ["other.tgz", "again.tgz"]) expect((await readFile(path.join(shell.home, name))).equals(bytes), name).toBe(true);
});

test("pack --name and --version write the name and version into the archive", async () => {
  const packed = await shell.run("pack app --name @team/other --version 3.0.0 --json");
  expect(packed.status, packed.stderr).toBe(0);
  const { file, name, version } = JSON.parse(packed.stdout) as { file: string; name: string; version: string };
  expect({ name, version, file: path.basename(file) }).toEqual({ name: "@team/other", version: "3.0.0", file: "team-other-3.0.0.tgz" });
  expect((await shell.run(`validate ${path.basename(file)}`)).stdout).toContain("@team/other@3.0.0 is a valid worker");
  expect(await readFile(path.join(shell.home, "app/manifest.yaml"), "utf8")).toBe("name: app\nversion: 1.0.0\n");

  await writeTree(shell.home, { "plain/index.html": "plain" });
  expect((await shell.run("pack plain --name plain --version 1.0.0")).stdout).toMatch(/ {2}plain-1\.0\.0\.tgz\n$/);
  expect(await shell.run("pack app --version one")).toMatchObject({ status: 2 });
});

test("pack and validate print no version for a package without one, because deploy assigns it", async () => {
  await writeTree(shell.home, { "site/index.html": "site" });
  const packed = await shell.run("pack site -o site.tgz");
  for (const run of [packed, await shell.run("pack site --list")]) {
    expect(run.stderr).toContain("the archive has no version: deploy assigns one, and workers upload installs it as latest\n");
    expect(run.stderr).toMatch(/^site: 2 files, /m);
  }
  for (const source of ["site", "site.tgz"])
    expect((await shell.run(`validate ${source}`)).stdout).toBe("site is a valid worker: 2 files; deploy assigns the version\n");
  expect(JSON.parse((await shell.run("validate site --json")).stdout)).toMatchObject({ name: "site", version: "latest" });
  expect((await shell.run("validate app")).stdout).toBe("app@1.0.0 is a valid worker: 4 files\n");
});

test("pack writes the same bytes that `workers upload` sends", async () => {
  const { sha256 } = JSON.parse((await shell.run("pack app --json")).stdout) as { sha256: string };
  const upload = JSON.parse((await shell.run("workers upload app --dry-run --json")).stdout) as { sha256: string };
  expect(upload.sha256).toBe(sha256);
});

test("pack --list prints size and matching rule of each file, and writes no archive", async () => {
  const before = await readdir(shell.home);
  const run = await shell.run("pack app --list");
  expect(run.stdout.split("\n").map((line) => line.split("\t"))).toEqual([
    ["+", "6", ".gitignore", "no matching rule"],
    ["+", "19", "index.js", "always included"],
    ["+", "25", "manifest.yaml", "always included"],
    ["+", "6", "tls/server.key", "no matching rule"],
    ["-", "", ".env", "always excluded: .env*: can contain secrets"],
    ["-", "", "a.log", ".gitignore: *.log"],
    ["-", "", "app-0.9.0.tgz", "always excluded: an archive of this package"],
    [""],
  ]);
  expect(run.stderr).toContain("tls/server.key looks like a secret");
  expect(await readdir(shell.home)).toEqual(before);
});

test.each<[string, string, number]>([
  ["an output file with --list", "pack app --list -o list.tgz", 2],
  ["an archive inside the packed folder", "pack app -o app/all.tgz", 2],
  ["a folder as the output file", "pack app -o deep", 2],
  ["a missing output folder", "pack app -o nowhere/app.tgz", 1],
  ["an archive as the input", "pack other.tgz", 2],
])("pack rejects invalid arguments and writes no archive (cause: %s)", async (_, words, status) => {
  const before = [await readdir(shell.home), await readdir(path.join(shell.home, "app"))];
  expect(await shell.run(`${words} --json`)).toMatchObject({ status, stdout: "" });
  expect([await readdir(shell.home), await readdir(path.join(shell.home, "app"))]).toEqual(before);
});

test("validate reports the same problems for a folder and for its package archive", async () => {
  const told = async (what: string) => JSON.parse((await shell.run(`validate ${what} --json`)).stdout) as { files: number };
  expect(await told("app")).toMatchObject({ valid: true, kind: "worker", name: "app", warnings: [{ code: "LOOKS_SECRET" }] });
  expect((await told("app-1.0.0.tgz")).files).toBe((await told("app")).files);
  await writeTree(shell.home, { "bad/manifest.yaml": "name: bad\nmemory: lots\ntimeout: soon\n", "bad/index.js": "" });
  const run = await shell.run("validate bad --json");
  expect(run).toMatchObject({ status: 1, stdout: "" });
  const { error } = JSON.parse(run.stderr) as { error: { details: string[] } };
  expect(error.details).toEqual([
    expect.stringMatching(/^manifest\.yaml:3:10: timeout/),
    expect.stringMatching(/^manifest\.yaml:2:9: memory/),
  ]);
});
