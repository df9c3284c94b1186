import { readFileSync } from "node:fs";
import path from "node:path";
import { installationFileName } from "../../shared/installation-file-name.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import { metadataProblem } from "./package-metadata.js";
import type { StoredVersion } from "./package-store.js";
import type { FoundVersion } from "./worker-folders.js";

/**
 * Returns the digest of the archive from which a version folder was unpacked. Returns undefined for a missing folder, and for a folder that
 * was copied by hand.
 */
export function digestOfFolder(folder: string): string | undefined {
  try {
    const { digest } = JSON.parse(readFileSync(path.join(folder, installationFileName), "utf8")) as { digest?: unknown };
    return typeof digest === "string" ? digest : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the versions of a worker folder: the versions on the disk and the versions of the index, which the daemon has possibly not
 * downloaded yet. `enabled` of the index has precedence. A version of the index keeps its identity when its folder is created.
 */
export function withStoredVersions(
  workerFolder: string,
  found: readonly FoundVersion[],
  stored: readonly StoredVersion[],
): readonly FoundVersion[] {
  const versions = stored.map((version): FoundVersion => {
    const folder = path.join(workerFolder, version.version);
    const digest = digestOfFolder(folder);
    const onDisk = digest === undefined ? undefined : found.find((each) => each.folder === folder);
    const { enabled } = version;
    const identity = `${digest ?? version.digest} ${enabled}`;
    return onDisk ? { ...onDisk, enabled, identity } : { ...asFound(version), folder, identity };
  });
  const folders = new Set(versions.map(({ folder }) => folder));
  const others = found
    .filter(({ folder }) => !folders.has(folder))
    .map((each) => ({ ...each, isLocal: digestOfFolder(each.folder) === undefined }));
  return [...others, ...versions];
}

function asFound({ name, version, enabled, fields, deployment, installation }: StoredVersion): Omit<FoundVersion, "folder" | "identity"> {
  const known = { name, version, enabled, ...(deployment && { deployment }), ...(installation && { installation }) };
  try {
    return { ...known, manifest: parseManifestFields(WorkerManifest, fields) };
  } catch (error) {
    return { ...known, manifest: WorkerManifest.parse({}), problem: metadataProblem(error) };
  }
}
