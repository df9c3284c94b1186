import { execFile } from "node:child_process";
import { chown, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../../platform/make-directory.js";

const privateMode = 0o700;
/** Users of isolates enter the directory and cannot list it. */
const enterableMode = 0o711;

/** Creates the data folder of a worker if it is missing, and gives it to the worker's user, if any. */
export async function makeDataFolder(folder: string, user: number | undefined): Promise<void> {
  if (user === undefined) return await makeDirectory(folder, privateMode);
  await makeDirectory(path.dirname(folder), enterableMode);
  await makeDirectory(folder, privateMode);
  if ((await stat(folder)).uid === user) return;
  // A new folder, one of a restored backup, or one of a daemon that ran with other users. `-h`: changes links, not their targets.
  await promisify(execFile)("chown", ["-Rh", "--", `${user}:${user}`, folder]);
  await chown(folder, user, user);
}
