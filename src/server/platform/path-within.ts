import path from "node:path";

/**
 * Whether `target` is `folder` or below it. Compares text: both must be absolute, normalized and, where it matters, without symbolic links.
 */
export function isPathWithin(target: string, folder: string): boolean {
  return target === folder || target.startsWith(folder + path.sep);
}
