import { stat } from "node:fs/promises";
import path from "node:path";
import { CommandError, usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";

/**
 * Returns the absolute path of the folder or archive that the user named. Throws if the path does not exist, or is neither a folder nor an
 * archive.
 */
export async function locatePackage(
  { workingDirectory }: Context,
  given: string,
): Promise<{ readonly path: string; readonly isFolder: boolean }> {
  const located = path.resolve(workingDirectory, given);
  const stats = await stat(located).catch(() => undefined);
  if (stats === undefined) throw new CommandError("PATH_NOT_FOUND", `${given} does not exist`, { exitCode: exitCodes.notFound });
  const isFolder = stats.isDirectory();
  if (!isFolder && !/\.(?:tgz|tar\.gz|zip)$/i.test(located))
    throw usageError(`${path.basename(located)} is neither a folder nor an archive`, "archives end in .tgz, .tar.gz or .zip");
  return { path: located, isFolder };
}
