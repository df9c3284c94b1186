import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn, type Deployment } from "../../shared/deployment.js";
import type { Installation } from "../../shared/installation.js";
import { isPackageName, isPackageVersion, latestVersion } from "../../shared/package-name.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { readInstallation } from "./installation-file.js";
import { parseManifestFields } from "./manifest-fields.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { readPackageMetadata } from "./package-metadata.js";

export interface WorkerVersion {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly manifest: WorkerManifest;
  readonly deployment?: Deployment;
  readonly installation?: Installation;
  readonly problem?: string;
}

/** The worker's manifest from its metadata; throws `INVALID_PACKAGE_METADATA` that names the field. */
export function parseWorkerManifest(metadata: PackageMetadata): WorkerManifest {
  return parseManifestFields(WorkerManifest, metadata.fields);
}

/**
 * The worker version in a folder; undefined when the folder is no package. Metadata that cannot be used makes a version with a
 * `problem`, under the name and version that its place says, so that the operator sees why it is not served.
 */
export function readWorkerVersion(folder: string, place: { name: string; version: string }): WorkerVersion | undefined {
  const installation = readInstallation(folder);
  let known = { ...place, enabled: true, ...(installation && { installation }) };
  try {
    const metadata = readPackageMetadata(folder);
    if (!metadata) return undefined;
    known = { ...known, name: metadata.name, version: metadata.version, enabled: metadata.enabled };
    const deployment = deploymentIn(metadata.declared);
    return { ...known, manifest: parseWorkerManifest(metadata), ...(deployment && { deployment }) };
  } catch (error) {
    if (!isPackageName(known.name) || !isPackageVersion(known.version)) return undefined;
    const problem = error instanceof ApiError ? error.message : "Its metadata cannot be read.";
    return { ...known, manifest: WorkerManifest.parse({}), problem };
  }
}

/** What a folder's place says about it: `<unit>` is a worker's own folder, `<unit>/<version>` a version in it. */
export function placeOf(directory: string, unit: string, folder: string): { name: string; version: string } {
  const name = path.relative(directory, unit).split(path.sep).join("/");
  return { name, version: folder === unit ? latestVersion : path.basename(folder) };
}
