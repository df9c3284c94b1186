import type { PackageInfo, PackageKind } from "./package-info.js";
import { readPackageInfo } from "./package-info.js";
import { readArchive } from "./read-archive.js";
import type { Offer } from "./offer.js";

/** A package archive that is ready for the upload, with its package info. */
export interface PackageArchive {
  readonly facts: PackageInfo;
  readonly file: Blob;
  readonly filename: string;
  readonly fileCount: number;
  /** Files and folders that packing excluded, each with the rule that excludes it. Empty if the user selected a finished archive. */
  readonly excluded: readonly { readonly path: string; readonly rule: string }[];
}

/** Reads the selected archive, or packs the selected folder. Throws the error with which the daemon would reject the package. */
export async function createArchive(offer: Offer, kind: PackageKind, signal: AbortSignal): Promise<PackageArchive> {
  if (offer.kind === "archive") {
    const text = await readArchive(offer.file, signal);
    return {
      facts: await readPackageInfo(text, kind),
      file: offer.file,
      filename: offer.file.name,
      fileCount: text.fileCount,
      excluded: [],
    };
  }
  const [{ planFolder }, { packFolder }] = await Promise.all([import("./folder-plan.js"), import("./pack-folder.js")]);
  const plan = await planFolder(offer.folder, kind, signal);
  const file = await packFolder(offer.folder, plan, signal);
  const filename = `${plan.facts.name.replace("@", "").replace("/", "-")}-${plan.facts.version}.tgz`;
  return { facts: plan.facts, file, filename, fileCount: plan.files.length, excluded: plan.excluded };
}
