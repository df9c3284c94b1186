import type { BigIntStats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { entrySegments } from "../../shared/archive/entry-name.js";

export interface TreeFile {
  /** Below the package. */
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly inode: bigint;
}

/** What a package's folder held when it was looked at. */
export interface PackageTree {
  readonly files: readonly TreeFile[];
  readonly folders: readonly string[];
  /** Links, sockets and the like, and names that no archive may have. */
  readonly skipped: readonly string[];
  /** The same as long as nothing in it was written, replaced or moved. */
  readonly fingerprint: string;
}

/** Throws ENOENT when the folder is not there, or something in it goes meanwhile. */
export async function readPackageTree(root: string): Promise<PackageTree> {
  const tree = { files: [] as TreeFile[], folders: [] as string[], skipped: [] as string[], marks: [] as string[] };
  const visit = async (folder: string): Promise<void> => {
    tree.marks.push(markOf(folder, await lstat(path.join(root, folder), { bigint: true })));
    for (const { name } of await readdir(path.join(root, folder), { withFileTypes: true })) {
      const below = folder === "" ? name : `${folder}/${name}`;
      const stats = await lstat(path.join(root, below), { bigint: true });
      if (!isStorable(below) || !(stats.isFile() || stats.isDirectory())) tree.skipped.push(below);
      else if (stats.isDirectory()) {
        tree.folders.push(below);
        await visit(below);
      } else {
        tree.files.push({ path: below, mode: Number(stats.mode) & 0o777, sizeBytes: Number(stats.size), inode: stats.ino });
        tree.marks.push(markOf(below, stats));
      }
    }
  };
  await visit("");
  return { ...tree, fingerprint: tree.marks.toSorted().join("\n") };
}

function markOf(name: string, stats: BigIntStats): string {
  return `${JSON.stringify(name)} ${stats.dev} ${stats.ino} ${stats.mode} ${stats.size} ${stats.ctimeNs}`;
}

/** The longest prefix that a backup puts before a name. */
const longestPrefix = "workers/999/9999999/";

/** What restoring would refuse must not get into a backup. */
function isStorable(name: string): boolean {
  try {
    return entrySegments(longestPrefix + name, "file").length > 0;
  } catch {
    return false;
  }
}
