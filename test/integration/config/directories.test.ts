import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ConfigError } from "../../../src/server/config/config-error.js";
import { readDirectories } from "../../../src/server/config/directories.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

test("workers and plugins cannot share a directory through a symbolic link", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(path.join(cwd, "packages"));
  await symlink("packages", path.join(cwd, "link"));
  const read = (workers: string, plugins: string) => readDirectories({ RUNTIME_WORKER_DIRS: workers, RUNTIME_PLUGIN_DIRS: plugins }, cwd);

  expect(() => read("packages", "link")).toThrow(ConfigError);
  expect(() => read("link", "packages")).toThrow(ConfigError);
  expect(read("link", "plugins")).toMatchObject({
    workerDirectories: [path.join(cwd, "link")],
    pluginDirectories: [path.join(cwd, "plugins")],
  });
});
