import type { PackageInfo, PackageKind } from "./package-info.js";
import { readPackageInfo } from "./package-info.js";
import { readArchive } from "./read-archive.js";
import type { Offer } from "./offer.js";

/** An archive that is ready to be sent, with its package info. */
export interface PackageArchive {
  readonly facts: PackageInfo;
  readonly file: Blob;
  readonly filename: string;
  readonly fileCount: number;
  /** For a folder: excluded paths with their rules. */
  readonly excluded: readonly { readonly path: string; readonly rule: string }[];
}

/** Reads an archive, or packs a folder. Throws the error that the daemon would return. */
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
