import { closeSync, openSync } from "node:fs";
import { createConnection } from "node:net";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { copySocketName, type CopyResponse } from "../workers/data/copy-server.js";
import { BackupError } from "./backup-format.js";

/** Copy of a worker's data folder. The backup reads this copy instead of the original. */
export interface DataCopy {
  readonly folder: string;
  /** Notifies the daemon that it can delete the copy. */
  release(): void;
}

/**
 * Requests a copy of a worker's data folder from the running daemon, which copies while no isolate writes to the folder. Returns undefined
 * if no daemon runs, because no isolate then changes the folder. Throws DATA_NOT_COPIED.
 */
export async function copyDataFolder(stateDirectory: string, name: string): Promise<DataCopy | undefined> {
  const folder = openSync(stateDirectory, "r");
  try {
    // Connects through /proc/self/fd. The path of the state directory can be longer than the 107 bytes that a socket address can contain.
    const socket = createConnection(`/proc/self/fd/${folder}/${copySocketName}`);
    try {
      await once(socket, "connect");
    } catch {
      return undefined;
    }
    socket.write(`${name}\n`);
    for await (const line of createInterface({ input: socket })) {
      const response = JSON.parse(line) as CopyResponse;
      if ("error" in response) throw notCopied(name, response.error);
      const release = (): void => void socket.destroy();
      // If the data folder was deleted meanwhile, returns the path `removed`, which does not exist. The backup omits a missing folder.
      return { folder: response.folder ?? path.join(stateDirectory, "removed"), release };
    }
    throw notCopied(name, "the daemon stopped");
  } finally {
    closeSync(folder);
  }
}

function notCopied(name: string, why: string): BackupError {
  return new BackupError("DATA_NOT_COPIED", `the data folder of ${name} could not be copied (${why}); no backup was written`, {
    hint: "the daemon first copies the folder within its data directory: free disk space there",
  });
}
