import { readFileSync } from "node:fs";

/**
 * Returns the text of a file, or undefined if the file does not exist. Reads synchronously, because loading `node:fs/promises` would take
 * longer.
 */
export function readFileIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
