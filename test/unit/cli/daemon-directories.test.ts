import { expect, test } from "vitest";
import { directoryVariables } from "../../../src/cli/backup/daemon-directories.js";
import type { UserDirectories } from "../../../src/cli/config/user-directories.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const unit = [
  "[Service]",
  "Environment=RUNTIME_STATE_DIR=%h/.local/share/runtimed/state",
  "Environment=RUNTIME_WORKER_DIRS=%h/workers",
  "",
];

test("--service reads the directories and the key store mode of the service", async () => {
  const home = await temporaryDirectory();
  const read = () => directoryVariables({ directories: { home } as UserDirectories }, { service: "user" });
  await writeTree(home, { ".config/systemd/user/runtimed.service": unit.join("\n") });
  const directories = { RUNTIME_STATE_DIR: `${home}/.local/share/runtimed/state`, RUNTIME_WORKER_DIRS: `${home}/workers` };
  expect(read()).toEqual(directories);

  const own = ["RUNTIME_AUTH_DB_MODE=sync", "RUNTIME_WORKER_DIRS=/srv/workers", "RUNTIME_DATA_DIR=/srv/data", "LOG_LEVEL=debug", ""];
  await writeTree(home, { ".config/runtimed/environment": own.join("\n") });
  expect(read()).toEqual({
    ...directories,
    RUNTIME_WORKER_DIRS: "/srv/workers",
    RUNTIME_DATA_DIR: "/srv/data",
    RUNTIME_AUTH_DB_MODE: "sync",
  });
});
