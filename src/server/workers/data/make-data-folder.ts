import { execFile } from "node:child_process";
import { chown, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeDirectory } from "../../platform/make-directory.js";

const privateMode = 0o700;
/** Mode of a directory that the users of isolates can enter, but cannot list. */
const enterableMode = 0o711;

/** Creates a missing data folder of a worker. If `user` is defined, makes this user id the owner of the folder. */
export async function makeDataFolder(folder: string, user: number | undefined): Promise<void> {
  if (user === undefined) return await makeDirectory(folder, privateMode);
  await makeDirectory(path.dirname(folder), enterableMode);
  await makeDirectory(folder, privateMode);
  if ((await stat(folder)).uid === user) return;
  // Changes the owner of all entries, because the folder can come from a backup or from a daemon with other users. The option `-h` changes
  // links, not their targets.
  await promisify(execFile)("chown", ["-Rh", "--", `${user}:${user}`, folder]);
  await chown(folder, user, user);
}
