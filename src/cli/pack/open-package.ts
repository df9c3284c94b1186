import { mkdir } from "node:fs/promises";
import path from "node:path";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { locatePackage } from "./locate-package.js";
import { planPack, type PackPlan } from "./pack-plan.js";
import { folderSource, readPackageInfo, type PackageIdentity, type PackageKind, type PackageSource } from "./package-info.js";
import { findPackageKind } from "./package-kind.js";
import { planBundled } from "./package-archive.js";
import { temporaryFolder } from "./temporary-folder.js";
import { unpackArchive } from "./unpack-archive.js";

/** A folder, or an archive that was ready, as it can be judged and packed. */
export interface OpenedPackage {
  readonly kind: PackageKind;
  readonly source: PackageSource;
  /** The folder itself, or where the archive was unpacked. */
  readonly folder: string;
  readonly isArchive: boolean;
  /** Private, for what is made on the way. */
  readonly workspace: string;
  /** What goes into the archive. */
  plan(options?: { bundle?: boolean; identity?: PackageIdentity }): Promise<PackPlan>;
}

/** Opens what a person names; the manifest says whether it is a worker or a plugin, unless `kind` does. */
export async function openPackage(context: Context, given: string, kind?: PackageKind): Promise<OpenedPackage> {
  const located = await locatePackage(context, given);
  const workspace = await temporaryFolder(context);
  const opened = located.isFolder ? { folder: located.path } : await unpackTo(path.join(workspace, "unpacked"), located.path);
  const source = { ...folderSource(opened.folder), label: given };
  const found = kind ?? (await findPackageKind(source));
  return {
    kind: found,
    source,
    folder: opened.folder,
    isArchive: !located.isFolder,
    workspace,
    plan: async ({ bundle = false, identity = {} } = {}) => {
      if (bundle && found === "plugin") throw usageError("--bundle is for workers");
      if ("files" in opened) {
        if (bundle) throw usageError("--bundle is for folders: an archive goes as it is");
        return { facts: await readPackageInfo(source, found, identity), files: opened.files, leftOut: [], links: [] };
      }
      return bundle
        ? planBundled(context, { folder: opened.folder, directory: workspace, identity })
        : planPack(opened.folder, { kind: found, identity });
    },
  };
}

async function unpackTo(directory: string, archive: string) {
  await mkdir(directory);
  return unpackArchive(archive, directory);
}
