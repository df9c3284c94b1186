import { readFileSync } from "node:fs";

/** The text of a file, or undefined when there is none. Read at once: nothing else goes on, and loading the other API takes longer. */
export function readFileIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
