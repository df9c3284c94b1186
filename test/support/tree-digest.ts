import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { installationFileName } from "../../src/shared/installation-file-name.js";

/** Returns one line for every folder, file and link below a folder: kind, mode, path and a hash of the content. */
export async function treeLines(root: string): Promise<string[]> {
  const lines: string[] = [];
  for (const entry of await readdir(root, { withFileTypes: true, recursive: true })) {
    const target = path.join(entry.parentPath, entry.name);
    const relative = path.relative(root, target);
    if (relative.split(path.sep).some(isVolatile)) continue;
    const stat = await lstat(target);
    if (entry.isDirectory()) lines.push(`folder ${relative}`);
    else if (entry.isSymbolicLink()) lines.push(`link ${relative} -> ${await readlink(target)}`);
    else lines.push(`file ${(stat.mode & 0o7777).toString(8)} ${stat.nlink} ${relative} ${hash(await readFile(target))}`);
  }
  return lines.toSorted();
}

/** Files of peers, sandbox folders and install records, which contain a time. */
function isVolatile(name: string): boolean {
  return name === ".instances" || name.startsWith(".isolates-") || name === installationFileName;
}

/** Returns a hash of a folder's content, or "missing" if there is no such folder. */
export async function treeDigest(root: string): Promise<string> {
  try {
    return hash((await treeLines(root)).join("\n"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // The folder of an isolate can be deleted during the walk.
    return existsSync(root) ? await treeDigest(root) : "missing";
  }
}

function hash(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}
