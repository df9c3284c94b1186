import path from "node:path";
import { deploymentIn, type Deployment } from "../../shared/deployment.js";
import { Installation } from "../../shared/installation.js";
import { isPackageName, isPackageVersion, latestVersion } from "../../shared/package-name.js";
import { isInRange, isVersionRange } from "../../shared/version-range.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { metadataProblem, readPackageMetadata } from "./package-metadata.js";
import semver from "semver";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { installationFileName } from "../../shared/installation-file-name.js";
import type { Transaction } from "./transactions/transaction.js";

/** A semantic version without a prerelease. */
const stablePattern = /^\d+\.\d+\.\d+(?:\+|$)/;
/** Maximum number of cached version ranges per worker. Clients choose the ranges in request paths, so the limit bounds the memory. */
const mostRememberedRanges = 64;

export interface WorkerVersion {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly manifest: WorkerManifest;
  readonly deployment?: Deployment;
  readonly installation?: Installation;
  readonly problem?: string;
}

/** Parses the manifest of a worker. Throws `INVALID_PACKAGE_METADATA` and names the invalid fields. */
export function parseWorkerManifest(metadata: PackageMetadata): WorkerManifest {
  return parseManifestFields(WorkerManifest, metadata.fields);
}

/**
 * Returns the worker version in a folder. Returns undefined if the folder contains no package. If the metadata is invalid, the returned
 * version has a `problem`, so that the operator sees the reason.
 */
export function readWorkerVersion(folder: string, pathVersion: { name: string; version: string }): WorkerVersion | undefined {
  const installation = readInstallation(folder);
  let known = { ...pathVersion, enabled: true, ...(installation && { installation }) };
  try {
    const metadata = readPackageMetadata(folder);
    if (!metadata) return undefined;
    known = { ...known, name: metadata.name, version: metadata.version, enabled: metadata.enabled };
    const deployment = deploymentIn(metadata.declared);
    return { ...known, manifest: parseWorkerManifest(metadata), ...(deployment && { deployment }) };
  } catch (error) {
    if (!isPackageName(known.name) || !isPackageVersion(known.version)) return undefined;
    return { ...known, manifest: WorkerManifest.parse({}), problem: metadataProblem(error) };
  }
}

/**
 * Returns the worker name and the version according to the path of a version folder. If the worker folder itself is the package, the version
 * is `latest`.
 */
export function versionAtPath(directory: string, workerFolder: string, folder: string): { name: string; version: string } {
  const name = path.relative(directory, workerFolder).split(path.sep).join("/");
  return { name, version: folder === workerFolder ? latestVersion : path.basename(folder) };
}

/** Compares two versions for sorting: `latest` first, then from the highest to the lowest version. */
export function newestFirst(a: string, b: string): number {
  if (a === latestVersion || b === latestVersion) return Number(b === latestVersion) - Number(a === latestVersion);
  return semver.compareBuild(b, a);
}

/** Selects the version that serves the requests to a worker, with or without a version range. Ignores disabled versions. */
export class VersionChoice {
  /**
   * Active version, which serves requests without a range. This is `latest`, otherwise the highest stable version, otherwise the highest
   * prerelease.
   */
  readonly preferred: InstalledVersion | undefined;
  readonly #enabled: ReadonlyMap<string, InstalledVersion>;
  /** Selected versions by range. The map is created at the first request with a range, because most workers receive none. */
  #remembered: Map<string, InstalledVersion | undefined> | undefined;

  constructor(versions: Iterable<InstalledVersion>) {
    const sorted = [...versions].filter(({ enabled }) => enabled).toSorted((a, b) => newestFirst(a.version, b.version));
    this.#enabled = new Map(sorted.map((version) => [version.version, version]));
    this.preferred = this.#enabled.get(latestVersion) ?? sorted.find(isStable) ?? sorted[0];
  }

  /**
   * Returns the version for a range. This is the exact version, otherwise the highest stable version in the range, otherwise the highest
   * prerelease in the range.
   */
  pick(range: string): InstalledVersion | undefined {
    const exact = this.#enabled.get(range);
    if (exact || this.#remembered?.has(range)) return exact ?? this.#remembered?.get(range);
    if (!isVersionRange(range)) return undefined;
    const found = this.#search(range);
    this.#remembered ??= new Map();
    if (this.#remembered.size >= mostRememberedRanges) this.#remembered.clear();
    this.#remembered.set(range, found);
    return found;
  }

  #search(range: string): InstalledVersion | undefined {
    const inRange = [...this.#enabled.values()].filter(({ version }) => isInRange(version, range));
    return inRange.find(isStable) ?? inRange[0];
  }
}

function isStable({ version }: InstalledVersion): boolean {
  return stablePattern.test(version);
}

export type PackageSource = "built-in" | "uploaded";

/** One installed version of a worker. */
export interface InstalledVersion {
  /** Package name, such as `app` or `@team/app`. */
  readonly name: string;
  /** Version of the worker: strict semver or `latest`. */
  readonly version: string;
  /** Absolute path of the folder from which the version is served. */
  readonly folder: string;
  readonly source: PackageSource;
  readonly enabled: boolean;
  /** A text that differs after the version folder is replaced, edited, enabled or disabled. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** Deployment record in the version's manifest. */
  readonly deployment?: Deployment;
  /** Record of the upload. Undefined for a folder that was not uploaded. */
  readonly installation?: Installation;
  /** Reason why the daemon cannot serve the version, such as an invalid manifest. The lists of versions still contain this version. */
  readonly problem?: string;
}

/**
 * Writes the record of the upload to the staged folder, so that moves and backups include it. Replaces a file of this name from the
 * archive. Static sites and the file API hide this file. `digest`: digest of the archive in a package store.
 */
export async function writeInstallation(
  staged: Transaction,
  folder: string,
  installation: Partial<Installation> & { readonly digest?: string | undefined },
): Promise<void> {
  const file = path.join(folder, installationFileName);
  await rm(file, { recursive: true, force: true });
  await staged.writeFile(file, `${JSON.stringify(installation)}\n`);
}

/** Reads the record of the upload from a version folder. Returns undefined if the folder was copied by hand or the record is invalid. */
function readInstallation(folder: string): Installation | undefined {
  try {
    const parsed = Installation.safeParse(JSON.parse(readFileSync(path.join(folder, installationFileName), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
