import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { Installation } from "../../shared/installation.js";
import type { StagedFolder } from "./staged-folder.js";

/**
 * In the folder of each version that was uploaded: it is placed, replaced, moved and backed up with the version. Hidden, so that static
 * sites do not serve it; the file API neither lists nor writes it.
 */
export const installationFileName = ".installed.json";

/** Writes who installs a version into its staged folder, in place of what the archive has there. */
export async function writeInstallation(staged: StagedFolder, folder: string, installation: Installation): Promise<void> {
  const file = path.join(folder, installationFileName);
  await rm(file, { recursive: true, force: true });
  await staged.prepareFile(file, `${JSON.stringify(installation)}\n`);
}

/** Undefined for a folder that was copied to its place by hand, and for what is no record of ours. */
export function readInstallation(folder: string): Installation | undefined {
  try {
    const parsed = Installation.safeParse(JSON.parse(readFileSync(path.join(folder, installationFileName), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
