import { existsSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { FileChange } from "../packages/files/mounts.js";
import type { PackageFolder } from "../packages/files/package-folder.js";
import type { PackageTools } from "../packages/package-tools.js";
import { readPackageMetadata } from "../packages/package-metadata.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import type { Transaction } from "../packages/transactions/transaction.js";
import { writeInstallation } from "../packages/worker-version.js";
import type { Installation } from "../../shared/installation.js";
import type { ArchiveStore, StoredArchive } from "./archive-store.js";
import { changedMeanwhile } from "./index-writer.js";
import { linkFolder, packFolder } from "./pack-folder.js";

interface PackageEditOptions {
  readonly archives: ArchiveStore;
  readonly tools: PackageTools;
  readonly staged: Transaction;
  /** The package in the index. Undefined for a new package, whose folder does not exist. */
  readonly base: { readonly digest: string; readonly enabled: boolean; readonly installation?: Installation | undefined } | undefined;
  /** Throws if the changed package must not be published. */
  readonly assertAccepted: (metadata: PackageMetadata) => void;
  /** Writes the row of the changed package if the index still contains `base`. */
  readonly publish: (archive: StoredArchive, metadata: PackageMetadata) => Promise<void>;
  /** Installs the changed copy in place of the folder. */
  readonly place: (copy: string) => Promise<void>;
}

/**
 * Applies a file change to a copy of a package folder, and sends, publishes and installs the copy. For a deleted folder, only returns
 * "removed". The caller deletes the staging folder unless the result is "changed". Throws PRECONDITION_FAILED.
 */
export async function editPackage(
  { name, directory, segments, folder }: PackageFolder,
  change: FileChange,
  { archives, tools, staged, base, assertAccepted, publish, place }: PackageEditOptions,
): Promise<"changed" | "unchanged" | "removed"> {
  const aside = await staged.makeContentFolder();
  await change.prepare?.(aside);
  change.check?.(aside);
  if (digestOfFolder(folder) !== base?.digest) throw changedMeanwhile(name);
  if (base && readPackageMetadata(folder)?.enabled !== base.enabled) throw changedMeanwhile(name);
  const staging = path.dirname(aside);
  const copies = path.join(staging, "copies");
  const copy = path.join(copies, ...segments);
  if (existsSync(folder)) await linkFolder(folder, copy);
  else await mkdir(copies);
  const rootOf = (each: string) => (each === directory ? copies : each);
  if (change.apply(aside, rootOf) !== undefined) return "removed";
  await change.settle(rootOf);
  const packing = { archives, tools, folder: copy, staging, assertAccepted };
  return await publishFolder(packing, async (archive, metadata) => {
    if (archive.digest === base?.digest) return "unchanged";
    await writeInstallation(staged, copy, { ...base?.installation, digest: archive.digest });
    await publish(archive, metadata);
    await place(copy);
    return "changed";
  });
}

/**
 * Packs a folder into an archive in `staging`, checks the archive like an upload, and sends the archive to the registry. Then calls
 * `publish`.
 */
export async function publishFolder<Result>(
  {
    archives,
    tools,
    folder,
    staging,
    assertAccepted,
  }: Pick<PackageEditOptions, "archives" | "tools" | "assertAccepted"> & { readonly folder: string; readonly staging: string },
  publish: (archive: StoredArchive, metadata: PackageMetadata) => Promise<Result>,
): Promise<Result> {
  const archive = path.join(staging, "package.tgz");
  await packFolder(folder, archive);
  const file = { path: archive, filename: path.basename(archive), sizeBytes: (await stat(archive)).size };
  const received = await archives.receive(file, "tar");
  try {
    // Unpacks the archive to check its limits and metadata, because other daemons will unpack the same archive.
    const unpacked = path.join(staging, "unpacked");
    await mkdir(unpacked, { mode: 0o700 });
    const { metadata } = await tools.unpacker.unpack(file, "tar", unpacked);
    assertAccepted(metadata);
    return await publish(await received.send(), metadata);
  } finally {
    await received.discard();
  }
}
