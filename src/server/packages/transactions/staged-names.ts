import { readdirSync } from "node:fs";
import path from "node:path";

const separator = ".";
/** What a restore of a backup has in there. */
export const restorePrefix = "restore-";

/** The name of a folder in `.staging`, which tells whose it is. */
export function stagedName(instance: string, change: string): string {
  return instance + separator + change;
}

export function instanceOf(name: string): string {
  return name.split(separator, 1)[0] ?? "";
}

export function isOfRestore(name: string): boolean {
  return name.startsWith(restorePrefix);
}

/** In the folder of a change: what was there before, when it was replaced, and when it was taken away. */
export const replacedName = "replaced";
export const takenPrefix = "taken";
/** What is prepared there; files that are removed go into it. */
export const contentName = "content";

/** Whether there is something in it that was served, and that isolates of the old code may read from. */
export function holdsOldContent(folder: string): boolean {
  return (
    namesIn(folder).some((name) => name === replacedName || name.startsWith(takenPrefix)) ||
    namesIn(path.join(folder, contentName)).some((name) => name === takenPrefix)
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
