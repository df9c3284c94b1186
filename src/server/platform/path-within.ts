import path from "node:path";

/** Whether a path is a folder or lies below it. Compares the texts: both are absolute, normalized, and with links resolved where that counts. */
export function isPathWithin(target: string, folder: string): boolean {
  return target === folder || target.startsWith(folder + path.sep);
}
