import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

export const run = promisify(execFile);

/** Writes files below a folder, by relative path. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const target = path.join(folder, name);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

/** Packs a folder like `npm pack`, everything below `package/`, with the system's tar. */
export async function packFolder(folder: string, archivePath: string): Promise<void> {
  const rename = `--transform=s,^\\.,package,`;
  await run("tar", [
    "-czf",
    archivePath,
    "-C",
    folder,
    rename,
    "--exclude=./node_modules",
    "--hard-dereference",
    "--no-recursion",
    "--null",
    "-T",
    await listFile(folder, archivePath),
  ]);
}

async function listFile(folder: string, archivePath: string): Promise<string> {
  const { stdout } = await run("find", [".", "-path", "./node_modules", "-prune", "-o", "-type", "f", "-print0"], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const listPath = `${archivePath}.list`;
  await writeFile(listPath, stdout);
  return listPath;
}
