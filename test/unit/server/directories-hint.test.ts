import { expect, test } from "vitest";
import { directoriesHint } from "../../../src/server/backup/directories-hint.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

test("the directories hint names the directories of a daemon that `npm start` started", async () => {
  const root = await temporaryDirectory();
  await writeTree(root, { ".runtime/state/keys.db": "" });

  const directories = `--state-dir ${root}/.runtime/state --worker-dirs ${root}/.runtime/workers --plugin-dirs ${root}/.runtime/plugins`;
  expect(directoriesHint(root)).toBe(`for the daemon of npm start, add: ${directories}`);
});

test("the directories hint names only the flags if no daemon has run in the folder", async () => {
  expect(directoriesHint(await temporaryDirectory())).toContain("--state-dir, --worker-dirs and --plugin-dirs");
});
