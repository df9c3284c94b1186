import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { findSystemTool } from "../../platform/system-tool.js";

/**
 * Minimum number of paths for a sync of the whole file system. For fewer paths, such a sync would mostly wait for writes of other programs.
 */
const fewestForFileSystem = 100;
/**
 * Number of concurrent fsync calls: the default thread count of libuv. Concurrent calls share one commit of the file system's journal, so
 * that each call takes a quarter of the time.
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

/** Calls syncfs(2), for which Node.js has no API. Returns false if the program `sync` does not support this call. */
async function syncFileSystem(root: string): Promise<boolean> {
  const sync = process.platform === "linux" ? findSystemTool("sync") : undefined;
  if (sync === undefined) return false;
  try {
    const [exitCode] = (await once(spawn(sync, ["-f", root], { env: {}, stdio: "ignore" }), "exit")) as [number | null];
    return exitCode === 0;
  } catch {
    // Reports a failure to start the program `sync` like a system call that `sync` does not support.
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
