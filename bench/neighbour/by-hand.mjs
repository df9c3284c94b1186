import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { packEditions } from "../soak/operations.mjs";
import { AppProcess } from "./app-process.mjs";

/**
 * Performs the changes of `createOperations` without a daemon while the app receives requests: tar unpacks an archive, a process starts,
 * the old one ends. `url()` is undefined while no process runs.
 */
export async function createOperationsByHand(stage, directory) {
  const archives = await packEditions(directory);
  let edition = 0;
  let current;
  const run = async (folder) => {
    current = { folder, app: await AppProcess.start(stage, path.join(folder, "index.js")) };
  };
  const install = async () => {
    edition += 1;
    const folder = await mkdtemp(path.join(directory, "app-"));
    await stage.run("tar", ["xzf", archives[edition % archives.length], "-C", folder]);
    await run(folder);
  };
  await install();
  return {
    url: () => current.app.url,
    operations: {
      replace: async () => {
        const old = current;
        await install();
        await remove(old);
      },
      "disable and enable": async () => {
        current.app.end();
        await run(current.folder);
      },
      "delete and upload": async () => {
        await remove(current);
        await install();
      },
    },
  };
}

async function remove({ folder, app }) {
  app.end();
  await rm(folder, { recursive: true });
}
