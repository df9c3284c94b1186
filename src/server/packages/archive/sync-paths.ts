import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { findSystemTool } from "../../platform/system-tool.js";

/** From this number of paths on, one sync of the file system is faster. Below, it would wait for writes of other programs. */
const fewestForFileSystem = 100;
/**
 * The number of threads of libuv. Concurrent fsyncs share one commit of the file system's journal, so that each takes a quarter of the
 * time.
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

/** Calls syncfs(2), which Node does not offer. Returns false where the program `sync` does not support it. */
async function syncFileSystem(root: string): Promise<boolean> {
  const sync = process.platform === "linux" ? findSystemTool("sync") : undefined;
  if (sync === undefined) return false;
  try {
    const [exitCode] = (await once(spawn(sync, ["-f", root], { env: {}, stdio: "ignore" }), "exit")) as [number | null];
    return exitCode === 0;
  } catch {
    // The program cannot be started.
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
