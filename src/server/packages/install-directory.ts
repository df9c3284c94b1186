import { constants } from "node:fs";
import { access, lstat, stat } from "node:fs/promises";
import path from "node:path";

/** The first directory that can be installed to: a folder that can be written, or one that can be made because its parent can be written. */
export async function installDirectory(directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) if (await canInstallTo(directory)) return directory;
  return undefined;
}

async function canInstallTo(directory: string): Promise<boolean> {
  const isThere = await lstat(directory).then(
    () => true,
    () => false,
  );
  return await canWrite(isThere ? directory : path.dirname(directory));
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}
