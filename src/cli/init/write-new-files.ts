import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

/** Writes all of the files below the folder, which is made when it is missing, or none: nothing that is there is overwritten. */
export async function writeNewFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const taken = Object.keys(files).filter((file) => existsSync(path.join(folder, file)));
  if (taken.length > 0) throw exists(folder, taken);
  const written: string[] = [];
  try {
    for (const [file, text] of Object.entries(files)) {
      const target = path.join(folder, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, text, { flag: "wx" });
      written.push(target);
    }
  } catch (error) {
    for (const target of written) await rm(target, { force: true });
    const { code, path: at = folder } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError("NOT_WRITTEN", `${at} cannot be written (${code}); nothing was made`, { exitCode: exitCodes.failed });
  }
}

function exists(folder: string, files: readonly string[]): CommandError {
  return new CommandError("PATH_EXISTS", `${folder} has some of these files already; nothing was written`, {
    exitCode: exitCodes.conflict,
    details: files,
    hint: "name another folder: runtimectl init ./new",
  });
}
