import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
import type { Directories } from "../config/directories.js";
import { packageDirectories } from "../packages/package-directories.js";
import type { PackageKind } from "./backup-format.js";

/** A directory for uploaded packages or data folders. */
export interface UploadDirectory {
  readonly kind: PackageKind;
  /** Position of the directory in the list of directories with the same kind, from 0. */
  readonly index: number;
  readonly path: string;
}

/**
 * Returns the directories of uploaded packages in the configured order, then the data directory. Omits directories that are part of a
 * container image.
 */
export function uploadDirectories({ workerDirectories, pluginDirectories, dataDirectory }: Directories): UploadDirectory[] {
  return [
    ...uploadedOf("workers", workerDirectories),
    ...uploadedOf("plugins", pluginDirectories),
    { kind: "data", index: 0, path: dataDirectory },
  ];
}

function uploadedOf(kind: PackageKind, configured: readonly string[]): UploadDirectory[] {
  return packageDirectories(undefined, configured)
    .filter(({ source }) => source === "uploaded")
    .map((directory, index) => ({ kind, index, path: directory.path }));
}

export interface FoundPackages {
  /** Relative paths of the folders that a backup reads as a whole: worker versions, and packages without versions. */
  readonly packages: readonly string[];
  /** Relative paths of symbolic links, which a backup skips. */
  readonly skipped: readonly string[];
}

export async function findPackages({ kind, path: directory }: UploadDirectory): Promise<FoundPackages> {
  const packages: string[] = [];
  const skipped: string[] = [];
  const foldersIn = async (parent: string): Promise<string[]> => {
    const entries = await readdir(path.join(directory, parent), { withFileTypes: true }).catch(ignoreMissing);
    const visible = (entries ?? []).filter(({ name }) => !name.startsWith("."));
    skipped.push(...visible.filter((entry) => entry.isSymbolicLink()).map(({ name }) => path.join(parent, name)));
    return visible.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(parent, name));
  };
  const addNamed = async (folder: string): Promise<void> => {
    const isPackage = kind !== "workers" || metadataFileNames.some((name) => existsSync(path.join(directory, folder, name)));
    packages.push(...(isPackage ? [folder] : await foldersIn(folder)));
  };
  for (const folder of await foldersIn("")) {
    if (!folder.startsWith("@")) await addNamed(folder);
    else for (const named of await foldersIn(folder)) await addNamed(named);
  }
  return { packages, skipped };
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
