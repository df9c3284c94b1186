import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { installationFileName } from "../../shared/installation-file-name.js";
import { Installation } from "../../shared/installation.js";
import type { Transaction } from "./transactions/transaction.js";

/**
 * Writes who installs a version into its staged folder, in place of what the archive has there. So the record is placed, replaced, moved
 * and backed up with the version. It is hidden: static sites do not serve it, and the file API neither lists nor writes it.
 */
export async function writeInstallation(staged: Transaction, folder: string, installation: Installation): Promise<void> {
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
