import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn, type Deployment } from "../../shared/deployment.js";
import { Installation } from "../../shared/installation.js";
import { isPackageName, isPackageVersion, latestVersion } from "../../shared/package-name.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import { parseManifestFields } from "./manifest-fields.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import { readPackageMetadata } from "./package-metadata.js";
import semver from "semver";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { installationFileName } from "../../shared/installation-file-name.js";
import type { Transaction } from "./transactions/transaction.js";

/** `1`, `1.4`, `1.4.2`, `^1.2.0`, `~1.2`: what may stand behind the @ of an address. */
const rangePattern = /^[\^~]?\d{1,9}(?:\.\d{1,9}){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const longestRange = 200;
/** A semantic version that is no prerelease. */
const stablePattern = /^\d+\.\d+\.\d+(?:\+|$)/;
/** Addresses are the callers' to choose; so is what is remembered for them. */
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

/** `latest` first, then from the highest version down. */
export function newestFirst(a: string, b: string): number {
  if (a === latestVersion || b === latestVersion) return Number(b === latestVersion) - Number(a === latestVersion);
  return semver.compareBuild(b, a);
}

/** Which of a worker's versions answers. Disabled ones never do. */
export class VersionChoice {
  /** What answers without a range: `latest`, else the highest stable version, else the highest prerelease. */
  readonly preferred: InstalledVersion | undefined;
  readonly #enabled: ReadonlyMap<string, InstalledVersion>;
  /** Of most workers nobody ever asks for a range. */
  #remembered: Map<string, InstalledVersion | undefined> | undefined;

  constructor(versions: Iterable<InstalledVersion>) {
    const sorted = [...versions].filter(({ enabled }) => enabled).toSorted((a, b) => newestFirst(a.version, b.version));
    this.#enabled = new Map(sorted.map((version) => [version.version, version]));
    this.preferred = this.#enabled.get(latestVersion) ?? sorted.find(isStable) ?? sorted[0];
  }

  /** What answers for a range: the version of exactly that name, else the highest stable one in it, else the highest prerelease in it. */
  pick(range: string): InstalledVersion | undefined {
    const exact = this.#enabled.get(range);
    if (exact || this.#remembered?.has(range)) return exact ?? this.#remembered?.get(range);
    if (range.length > longestRange || !rangePattern.test(range)) return undefined;
    const found = this.#search(range);
    this.#remembered ??= new Map();
    if (this.#remembered.size >= mostRememberedRanges) this.#remembered.clear();
    this.#remembered.set(range, found);
    return found;
  }

  #search(range: string): InstalledVersion | undefined {
    const inRange = [...this.#enabled.values()].filter(
      ({ version }) => version !== latestVersion && semver.satisfies(version, range, { includePrerelease: true }),
    );
    return inRange.find(isStable) ?? inRange[0];
  }
}

function isStable({ version }: InstalledVersion): boolean {
  return stablePattern.test(version);
}

export type PackageSource = "built-in" | "uploaded";

/** One version of a worker, as it lies on the disk. */
export interface InstalledVersion {
  /** `app` or `@team/app`. */
  readonly name: string;
  /** Strict semver or `latest`. */
  readonly version: string;
  /** Absolute path it is served from. */
  readonly folder: string;
  readonly source: PackageSource;
  readonly enabled: boolean;
  /** Changes whenever the folder's content was swapped, edited or toggled. */
  readonly generation: string;
  readonly manifest: WorkerManifest;
  /** Where it comes from, if it says so. */
  readonly deployment?: Deployment;
  /** Who installed it; undefined when it was not uploaded. */
  readonly installation?: Installation;
  /** Why it cannot be served: its manifest cannot be used. It is listed all the same. */
  readonly problem?: string;
}

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
function readInstallation(folder: string): Installation | undefined {
  try {
    const parsed = Installation.safeParse(JSON.parse(readFileSync(path.join(folder, installationFileName), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
