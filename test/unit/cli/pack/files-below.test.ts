import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { filesBelow } from "../../../../src/cli/pack/files-below.js";
import { writeTree } from "../../../support/write-tree.js";

test("filesBelow returns the regular files that can be packed, but no links", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "files-below-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeTree(folder, { "index.js": "1", "lib/a.js": "22", ".env": "SECRET=1", "lib/.git/config": "", "node_modules/.bin/x": "" });
  await symlink("/etc", path.join(folder, "etc"));
  await symlink("..", path.join(folder, "lib/cycle"));
  await symlink("/etc/hostname", path.join(folder, "lib/hostname"));
  const found = filesBelow(folder).map(({ name, sizeBytes }) => `${name} ${sizeBytes}`);
  expect(found.toSorted()).toEqual(["index.js 1", "lib/a.js 2"]);
});
