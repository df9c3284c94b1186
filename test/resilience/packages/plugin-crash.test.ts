import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { entriesOf } from "../../support/entries-of.js";
import { writeFiles } from "../../support/pack-archive.js";
import { packFiles } from "../../support/pack-files.js";
import { treeDigest } from "../../support/tree-digest.js";
import { openPluginPackages, type PluginPackagesFixture } from "../../integration/packages/plugin-packages-fixture.js";

const kills = 12;

let fixture: PluginPackagesFixture;

beforeEach(async () => {
  fixture = await openPluginPackages();
});
afterEach(() => fixture.close());

const inUploads = (...parts: string[]) => path.join(fixture.uploads, ...parts);

function filesOf(name: string, mark: string): Record<string, string> {
  const files = Array.from({ length: 25 }, (_, index) => [`lib/${index}`, `${mark} ${index}`]);
  return { "manifest.yaml": `name: "${name}"\n`, "plugin.js": mark, ...Object.fromEntries(files) };
}

test(`each plugin has one complete version after ${kills} kills while plugins change`, { timeout: 240_000 }, async () => {
  await writeFiles(fixture.builtIn, { "gateway/manifest.yaml": "name: gateway\nenabled: false\n", "gateway/plugin.js": "1" });
  const [first, second, other] = ["first.tgz", "second.tgz", "other.tgz"].map((name) => path.join(fixture.root, name)) as [
    string,
    string,
    string,
  ];
  const digests: string[] = [];
  for (const [archive, name, mark] of [
    [first, "guard", "first"],
    [second, "guard", "second"],
    [other, "@team/other", "other"],
  ] as const) {
    const bytes = await packFiles(filesOf(name, mark));
    await writeFile(archive, bytes);
    await fixture.install(bytes);
    digests.push(await treeDigest(inUploads(name)));
  }
  await writeFiles(fixture.uploads, { "flag/manifest.yaml": "# kept\nenabled: true\nname: flag\n" });

  for (let kill = 0; kill < kills; kill += 1) {
    await fixture.packages.close();
    await killAtRandom([first, second, other]);
    await fixture.reopen();
    expect(digests.slice(0, 2)).toContain(await treeDigest(inUploads("guard")));
    expect([digests[2], "missing"]).toContain(await treeDigest(inUploads("@team/other")));
    expect(await readFile(inUploads("flag/manifest.yaml"), "utf8")).toMatch(/^# kept\nenabled: (true|false)\nname: flag\n$/);
    const gateway = fixture.packages.discover().find(({ name }) => name === "gateway");
    expect(gateway).toMatchObject({ enabled: existsSync(inUploads("gateway")), folder: path.join(fixture.builtIn, "gateway") });
    const there = ["@team", "gateway"].filter((name) => existsSync(inUploads(name)));
    // Unpacked files are deleted in the background if there are many.
    await expect.poll(() => entriesOf(fixture.uploads).toSorted()).toEqual([...there, "flag", "guard"].toSorted());
  }
});

/** Starts a process that changes plugins in a loop and kills it after a random time. */
async function killAtRandom(archives: readonly string[]): Promise<void> {
  const subject = path.join(import.meta.dirname, "plugin-crash-subject.mjs");
  const child = spawn(process.execPath, [subject, fixture.uploads, fixture.builtIn, ...archives], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await delay(Math.random() * 600);
  child.kill("SIGKILL");
  await once(child, "close");
}
