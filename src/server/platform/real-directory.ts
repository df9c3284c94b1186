import { realpathSync } from "node:fs";
import path from "node:path";

/** Returns the absolute path of a directory without symbolic links. For a missing directory, returns the absolute path. */
export function realDirectory(directory: string): string {
  const absolute = path.resolve(directory);
  try {
    return realpathSync(absolute);
  } catch {
    return absolute;
  }
}
