import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { findSystemTool } from "../../platform/system-tool.js";

/**
 * Minimum number of paths at which one sync of the whole file system is faster than one sync per path. For fewer paths, this sync would
 * mostly wait for writes of other programs.
 */
const fewestForFileSystem = 100;
/**
 * Number of fsync calls at the same time, equal to the default thread count of libuv. Simultaneous calls share one commit of the file
 * system's journal, so each call takes a quarter of the time.
 */
const syncsAtOnce = 4;

/** Syncs files and folders in or below `root`. */
export async function syncPaths(root: string, paths: readonly string[]): Promise<void> {
  if (paths.length >= fewestForFileSystem && (await syncFileSystem(root))) return;
  const remaining = paths.values();
  const work = async () => {
    for (const path of remaining) await syncPath(path);
  };
  await Promise.all(Array.from({ length: syncsAtOnce }, work));
}

/**
 * Calls syncfs(2) through the program `sync`, because Node.js has no such function. Returns false if the program does not support syncfs.
 */
async function syncFileSystem(root: string): Promise<boolean> {
  const sync = process.platform === "linux" ? findSystemTool("sync") : undefined;
  if (sync === undefined) return false;
  try {
    const [exitCode] = (await once(spawn(sync, ["-f", root], { env: {}, stdio: "ignore" }), "exit")) as [number | null];
    return exitCode === 0;
  } catch {
    // Also returns false if the program `sync` cannot be started. The caller then syncs each path.
    return false;
  }
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
