import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../../src/server/package-root.js";
import { readPackageMetadata } from "../../../src/server/packages/package-metadata.js";
import { packFolder, run } from "../../support/pack-archive.js";
import { treeLines } from "../../support/tree-digest.js";
import { openPackages, type PackagesFixture } from "../../integration/packages/packages-fixture.js";

const leastPackages = 60;
const nodeModules = path.join(packageRoot, "node_modules");

/** Returns folders of installed packages that have a name and a version, no links, and fewer than 400 files. */
async function someInstalledPackages(count: number): Promise<string[]> {
  const chosen: string[] = [];
  for (const entry of await readdir(nodeModules, { withFileTypes: true })) {
    if (chosen.length === count) break;
    const folder = path.join(nodeModules, entry.name);
    if (!entry.isDirectory() || /^[.@]/.test(entry.name) || !readPackageMetadata(folder)) continue;
    const inside = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
      ({ parentPath }) => !parentPath.includes(`${entry.name}/node_modules`),
    );
    if (inside.length < 400 && !inside.some((child) => child.isSymbolicLink())) chosen.push(folder);
  }
  return chosen;
}

describe("an uploaded npm package", () => {
  let fixture: PackagesFixture;

  beforeAll(async () => {
    fixture = await openPackages();
  });
  afterAll(() => fixture.close());

  async function expectSameAsTar(archive: string): Promise<void> {
    const { installedAt } = await fixture.install(archive);
    const extracted = path.join(fixture.root, "extracted");
    await mkdir(extracted);
    await run("tar", ["-xzf", archive, "--strip-components=1", "--no-same-owner", "--no-same-permissions", "-C", extracted]);
    expect(await treeLines(installedAt)).toEqual(await treeLines(extracted));
    await rm(extracted, { recursive: true });
  }

  test.for(["swagger-ui-dist", "reveal.js"])(
    "is unpacked to the same files that tar unpacks (npm package %s)",
    { timeout: 120_000 },
    async (name) => {
      const { stdout } = await run(
        "npm",
        ["pack", "--ignore-scripts", "--silent", "--pack-destination", fixture.root, path.join(nodeModules, name)],
        {
          cwd: fixture.root,
        },
      );
      await expectSameAsTar(path.join(fixture.root, stdout.trim().split("\n").at(-1) as string));
    },
  );

  test(`is unpacked to the same files that tar unpacks (${leastPackages} packages)`, { timeout: 300_000 }, async () => {
    const folders = await someInstalledPackages(leastPackages + 4);
    expect(folders.length).toBeGreaterThanOrEqual(leastPackages);
    const archive = path.join(fixture.root, "package.tgz");
    for (const folder of folders) {
      await packFolder(folder, archive);
      await expectSameAsTar(archive);
    }
    expect(fixture.packages.list().length).toBeGreaterThanOrEqual(leastPackages);
  });
});
