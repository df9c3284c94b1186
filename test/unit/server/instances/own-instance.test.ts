import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { openOwnInstance } from "../../../../src/server/instances/own-instance.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

test.each([
  [{}, ["instance-id"]],
  [undefined, []],
])("a daemon stores its ID only if a primary is configured (primary: %j)", async (primary, files) => {
  const stateDirectory = await temporaryDirectory();
  const config = { stateDirectory, instanceName: "a", instanceUrl: undefined, primary };

  const [first, second] = [await openOwnInstance(config, "1.2.3"), await openOwnInstance(config, "1.2.3")];

  expect(second.id).toBe(first.id);
  expect(second.run).not.toBe(first.run);
  expect(await readdir(stateDirectory)).toEqual(files);
  for (const file of files) expect(await readFile(path.join(stateDirectory, file), "utf8")).toBe(`${first.id}\n`);
});
