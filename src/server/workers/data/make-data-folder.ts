import { execFile } from "node:child_process";
import { chown, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../../platform/make-directory.js";

const privateMode = 0o700;
/** Mode of a directory that users of isolates can enter but cannot list. */
const enterableMode = 0o711;

/** Creates the data folder of a worker if the folder is missing, and makes `user` the owner of the folder, if defined. */
export async function makeDataFolder(folder: string, user: number | undefined): Promise<void> {
  if (user === undefined) return await makeDirectory(folder, privateMode);
  await makeDirectory(path.dirname(folder), enterableMode);
  await makeDirectory(folder, privateMode);
  if ((await stat(folder)).uid === user) return;
  // The folder is new, comes from a restored backup, or was created by a daemon with other users. `-h` changes the owner of links, not of
  // their targets.
  await promisify(execFile)("chown", ["-Rh", "--", `${user}:${user}`, folder]);
  await chown(folder, user, user);
}
