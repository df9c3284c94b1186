import { mkdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { userDirectories } from "./config/user-directories.js";

const othersMayDoAnything = 0o077;

/**
 * Enables Node's compile cache in a folder that only this user can write, because Node.js runs the cached code as this user. Without such a
 * folder, Node.js compiles the program at each start.
 */
export function useCompileCache(): void {
  const directory = `${userDirectories(process.env).cache}/compiled`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    if (uid === process.getuid?.() && (mode & othersMayDoAnything) === 0) enableCompileCache(directory);
  } catch {
    // Ignores the error, because the command also works without a compile cache.
  }
}
