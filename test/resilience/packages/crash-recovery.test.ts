import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildTgz } from "../../support/build-tar.js";
import { entriesOf } from "../../support/entries-of.js";
import { writeFiles } from "../../support/pack-archive.js";
import { treeDigest } from "../../support/tree-digest.js";
import { openPackages, type PackagesFixture } from "../../integration/packages/packages-fixture.js";

const kills = 20;

let fixture: PackagesFixture;

beforeEach(async () => {
  fixture = await openPackages();
});
afterEach(() => fixture.close());

const staged = (...parts: string[]) => path.join(fixture.uploads, ".staging", "one", ...parts);
const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);

function archiveOf(name: string, mark: string): Buffer {
  const files = Array.from({ length: 25 }, (_, index) => ({ name: `package/lib/${index}`, content: `${mark} ${index}` }));
  return buildTgz(
    { name: "package/manifest.yaml", content: `name: "${name}"\nversion: 1.0.0\n` },
    { name: "package/mark", content: mark },
    ...files,
  );
}

test(`each package has one complete version after ${kills} kills while packages change`, { timeout: 240_000 }, async () => {
  const archives = { first: archiveOf("app", "first"), second: archiveOf("app", "second"), other: archiveOf("@team/other", "other") };
  const paths = Object.fromEntries(Object.keys(archives).map((name) => [name, path.join(fixture.root, `${name}.tgz`)]));
  for (const [name, archive] of Object.entries(archives)) await writeFile(paths[name] as string, archive);
  const installed = (name: string) => treeDigest(path.join(fixture.uploads, name, "1.0.0"));
  await fixture.install(paths["first"] as string);
  const first = await installed("app");
  await fixture.install(paths["second"] as string);
  const second = await installed("app");
  await fixture.install(paths["other"] as string);
  const other = await installed("@team/other");
  await writeFiles(fixture.uploads, { "flag/1.0.0/manifest.yaml": "# kept\nenabled: true\nname: flag\nversion: 1.0.0\n" });

  for (let kill = 0; kill < kills; kill += 1) {
    await fixture.packages.close();
    await killAtRandom(Object.values(paths));
    await fixture.reopen();
    expect([first, second]).toContain(await installed("app"));
    expect([other, "missing"]).toContain(await installed("@team/other"));
    expect(await readFile(path.join(fixture.uploads, "flag/1.0.0/manifest.yaml"), "utf8")).toMatch(
      /^# kept\nenabled: (true|false)\nname: flag\nversion: 1.0.0\n$/,
    );
    expect(readdirSync(path.join(fixture.uploads, "flag", "1.0.0"))).toEqual(["manifest.yaml"]);
    const scope = existsSync(path.join(fixture.uploads, "@team")) ? ["@team"] : [];
    // Unpacked files are deleted in the background if there are many.
    await expect.poll(() => entriesOf(fixture.uploads)).toEqual([...scope, "app", "flag"]);
  }
});

/** Starts a process that changes packages in a loop and kills it after a random time. */
async function killAtRandom(archives: readonly string[]): Promise<void> {
  const subject = path.join(import.meta.dirname, "crash-subject.mjs");
  const child = spawn(process.execPath, [subject, fixture.uploads, ...archives], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await delay(Math.random() * 600);
  child.kill("SIGKILL");
  await once(child, "close");
}

describe("an interrupted transaction of package files", () => {
  beforeEach(async () => {
    await writeFiles(fixture.uploads, {
      "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n",
      "app/1.0.0/mark": "old",
      ".staging/one/content/package/manifest.yaml": "name: app\nversion: 1.0.0\n",
      ".staging/one/content/package/mark": "new",
    });
  });

  const moves = [
    { from: "app/1.0.0", to: ".staging/one/replaced" },
    { from: ".staging/one/content/package", to: "app/1.0.0" },
  ];
  const journal = (list = moves) => writeFileSync(staged("journal.json"), JSON.stringify({ moves: list }));
  const move = (index: number) => renameSync(inUploads(moves[index]?.from ?? ""), inUploads(moves[index]?.to ?? ""));

  const moments: readonly [when: string, prepare: () => void, mark: string][] = [
    ["before the journal: reverted", () => undefined, "old"],
    ["during the write of the journal: reverted", () => writeFileSync(staged("journal.json"), '{"moves":[{"from":"app/1.0.0"'), "old"],
    ["before the first move: completed", () => journal(), "new"],
    ["between the moves: completed", () => (journal(), move(0)), "new"],
    ["after the moves: cleaned up", () => (journal(), move(0), move(1)), "new"],
    ["during the deletion of the old folder: cleaned up", () => (move(0), move(1)), "new"],
  ];
  test.for(moments)("is completed or reverted at the next start (interruption %s)", async ([, prepare, mark]) => {
    prepare();
    await fixture.reopen();
    expect(await readFile(inUploads("app/1.0.0/mark"), "utf8")).toBe(mark);
    expect(entriesOf(fixture.uploads)).toEqual(["app"]);
    expect(fixture.packages.list()).toMatchObject([{ name: "app", versions: ["1.0.0"] }]);
  });

  test.for([0, 1, 2, 3])("is completed when it stopped after %d of the 3 moves that disable latest", async (done) => {
    await writeFiles(fixture.uploads, {
      "app/latest/manifest.yaml": "name: app\n",
      ".staging/one/file": "enabled: false\nname: app\n",
      ".staging/one/content/package/manifest.yaml": "name: app\nversion: 1.1.0\n",
    });
    const all = [
      { from: "app/latest/manifest.yaml", to: ".staging/one/previous-file" },
      { from: ".staging/one/file", to: "app/latest/manifest.yaml" },
      { from: ".staging/one/content/package", to: "app/1.1.0" },
    ];
    journal(all);
    for (const { from, to } of all.slice(0, done)) renameSync(inUploads(from), inUploads(to));
    await fixture.reopen();
    const [row] = fixture.packages.list();
    expect(row).toMatchObject({ versions: ["latest", "1.1.0", "1.0.0"], disabledVersions: ["latest"] });
    expect(entriesOf(fixture.uploads)).toEqual(["app"]);
  });

  test("keeps the new version when only its journal remains", async () => {
    journal();
    move(0);
    move(1);
    await cp(staged("replaced"), path.join(fixture.root, "kept"), { recursive: true });
    renameSync(staged("replaced"), path.join(fixture.root, "gone"));
    await fixture.reopen();
    expect(await readFile(inUploads("app/1.0.0/mark"), "utf8")).toBe("new");
    expect(entriesOf(fixture.uploads)).toEqual(["app"]);
  });

  test("is completed when its package is the first version of a worker", async () => {
    mkdirSync(staged("wrapped"));
    renameSync(staged("content/package"), staged("wrapped/1.0.0"));
    journal([{ from: ".staging/one/wrapped", to: "fresh" }]);
    await fixture.reopen();
    expect(await readFile(inUploads("fresh/1.0.0/mark"), "utf8")).toBe("new");
    expect(entriesOf(fixture.uploads)).toEqual(["app", "fresh"]);
  });

  test("is removed when only its empty staging folder remains", async () => {
    rmSync(staged(), { recursive: true });
    await fixture.reopen();
    expect(entriesOf(fixture.uploads)).toEqual(["app"]);
  });

  test("delays the daemon's start by at most 15 s with 300 leftover folders", async () => {
    for (let index = 0; index < 300; index += 1) await writeFiles(fixture.uploads, { [`.staging/${index}/content/a/b`]: "x" });
    const startedAt = performance.now();
    await fixture.reopen();
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(fixture.packages.resolve("app", undefined)?.version).toBe("1.0.0");
    await expect.poll(() => existsSync(inUploads(".staging")), { timeout: 30_000 }).toBe(false);
  });
});
