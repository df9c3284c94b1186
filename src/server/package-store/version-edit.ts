import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import type { FileChange } from "../packages/files/mounts.js";
import type { Unit } from "../packages/files/package-folder.js";
import type { PackageTools } from "../packages/package-tools.js";
import { digestOfFolder } from "../packages/stored-folders.js";
import { writeInstallation } from "../packages/worker-version.js";
import type { Transaction } from "../packages/transactions/transaction.js";
import { changedMeanwhile, type OciPackageStore } from "./oci-package-store.js";
import { linkFolder, packFolder } from "./pack-folder.js";

interface VersionEditOptions {
  readonly store: OciPackageStore;
  readonly tools: PackageTools;
  readonly staged: Transaction;
  /** Installs the changed copy in place of the folder. */
  readonly place: (copy: string) => Promise<void>;
}

/**
 * Applies a change of files to a copy of a version folder. Packs, sends and publishes the copy, then installs it. Until the publication,
 * nothing has changed. Returns "removed" without a change if the change deletes the whole folder. The caller deletes the staging folder if
 * the result is not "changed". Throws PRECONDITION_FAILED.
 */
export async function editVersion(
  { name, directory, segments, folder }: Unit,
  change: FileChange,
  { store, tools, staged, place }: VersionEditOptions,
): Promise<"changed" | "unchanged" | "removed"> {
  const aside = await staged.makeContentFolder();
  const version = path.basename(folder);
  await change.prepare?.(aside);
  change.check?.(aside);
  const base = store.find({ name, version });
  if (!base || digestOfFolder(folder) !== base.digest) throw changedMeanwhile(name, version);
  const staging = path.dirname(aside);
  const copies = path.join(staging, "copies");
  const copy = path.join(copies, ...segments);
  await linkFolder(folder, copy);
  const rootOf = (each: string) => (each === directory ? copies : each);
  if (change.apply(aside, rootOf) !== undefined) return "removed";
  await change.settle(rootOf);
  const archive = path.join(staging, "package.tgz");
  await packFolder(copy, archive);
  const file = { path: archive, filename: path.basename(archive), sizeBytes: (await stat(archive)).size };
  const upload = await store.receive(file, "tar");
  try {
    // Other daemons unpack the archive, so its limits and its metadata are checked here.
    const unpacked = path.join(staging, "unpacked");
    await mkdir(unpacked, { mode: 0o700 });
    const { metadata } = await tools.unpacker.unpack(file, "tar", unpacked);
    if (metadata.name !== name || metadata.version !== version) throw otherIdentity(name, version);
    const digest = await upload.send();
    if (digest === base.digest) return "unchanged";
    const { installation } = base;
    await writeInstallation(staged, copy, { ...installation, digest });
    await upload.publish({ metadata, installation, isNewOnly: false, disables: undefined, replaces: base.digest });
  } finally {
    await upload.discard();
  }
  await place(copy);
  return "changed";
}

function otherIdentity(name: string, version: string): ApiError {
  return new ApiError(
    "INVALID_PACKAGE_METADATA",
    `The change would give ${name} ${version} another name or version. With RUNTIME_PACKAGE_STORE=oci, upload a new package instead.`,
  );
}
