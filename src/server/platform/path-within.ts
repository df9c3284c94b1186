import path from "node:path";

/**
 * Returns whether `target` is `folder` or a path below it. Compares texts only, so both paths must be absolute, normalized and without
 * symbolic links.
 */
export function isPathWithin(target: string, folder: string): boolean {
  return target === folder || target.startsWith(folder + path.sep);
}
