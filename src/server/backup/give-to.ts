import { chown, mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { exists } from "../packages/transactions/journal.js";

/** Creates a folder with the same owner as its parent. Keeps an existing folder. */
export async function makeLikeParent(folder: string, mode = 0o755): Promise<void> {
  if (exists(folder)) return;
  await makeLikeParent(path.dirname(folder));
  await mkdir(folder, mode);
  await giveTo(path.dirname(folder), [folder]);
}

/** Changes the owner of paths that root created. The new owner is the owner of `ownersFolder`, which is the daemon's user. */
export async function giveTo(ownersFolder: string, paths: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(ownersFolder);
  if (uid !== 0 || gid !== 0) for (const each of paths) await chown(each, uid, gid);
}
