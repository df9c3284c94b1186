import { mkdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { userDirectories } from "./config/user-directories.js";

const othersMayDoAnything = 0o077;

/**
 * Has Node keep what V8 compiles of this program, in a folder of the user's own: another user who could write there would run code as this
 * one. Without such a folder each start compiles again.
 */
export function useCompileCache(): void {
  const directory = `${userDirectories(process.env).cache}/compiled`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    if (uid === process.getuid?.() && (mode & othersMayDoAnything) === 0) enableCompileCache(directory);
  } catch {
    // A home that cannot be written costs time and nothing else.
  }
}
