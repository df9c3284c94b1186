import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { findSystemTool } from "../../platform/system-tool.js";

/** From here on one sync of the whole file system is cheaper; below, it would wait for what others have written, for nothing. */
const fewestForFileSystem = 100;
/** As many as libuv has threads for: their fsyncs share the journal's commits, which makes each four times cheaper. */
const syncsAtOnce = 4;

/** Puts files and folders, all of them in or below `root`, on stable storage. */
export async function syncPaths(root: string, paths: readonly string[]): Promise<void> {
  if (paths.length >= fewestForFileSystem && (await syncFileSystem(root))) return;
  const remaining = paths.values();
  const work = async () => {
    for (const path of remaining) await syncPath(path);
  };
  await Promise.all(Array.from({ length: syncsAtOnce }, work));
}

/** syncfs(2), which Node does not offer; false where the system's `sync` does not either. */
async function syncFileSystem(root: string): Promise<boolean> {
  const sync = process.platform === "linux" ? findSystemTool("sync") : undefined;
  if (sync === undefined) return false;
  try {
    const [exitCode] = (await once(spawn(sync, ["-f", root], { env: {}, stdio: "ignore" }), "exit")) as [number | null];
    return exitCode === 0;
  } catch {
    // It cannot be started.
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
