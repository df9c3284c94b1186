import compareBuild from "semver/functions/compare-build.js";
import type { Worker } from "./contract/workers.js";
import type { Installation } from "./installation.js";
import { isPackageVersion, latestVersion } from "./package-name.js";

export interface InstalledVersion {
  readonly version: string;
  readonly enabled: boolean;
  readonly source: Worker["source"];
  /** Path of the worker's folder on the machine of the daemon. */
  readonly path: string;
  /** Record of the upload. Undefined for a version that was not uploaded. */
  readonly installation?: Installation | undefined;
}

/** A worker with all of its versions, newest first. In the API list, built-in and uploaded versions are separate rows. */
export interface InstalledWorker {
  readonly name: string;
  readonly versions: readonly InstalledVersion[];
}

/** Returns one worker from the rows that the API's worker list contains for this worker. */
export function toInstalledWorker(name: string, rows: readonly Worker[]): InstalledWorker {
  return { name, versions: installedVersions(rows) };
}

/** Returns the versions of one worker, newest first, from the rows that the API's worker list contains for this worker. */
export function installedVersions(rows: readonly Worker[]): InstalledVersion[] {
  return rows
    .flatMap(({ source, path, versions, disabledVersions, installs }) =>
      versions.map((version) => ({
        version,
        enabled: !disabledVersions.includes(version),
        source,
        path,
        installation: installs?.[version],
      })),
    )
    .toSorted((one, other) => newestFirst(one.version, other.version));
}

/** Returns the active version: `latest` if enabled, else the highest enabled stable version, else the highest enabled version. */
export function activeVersionOf<Version extends Pick<InstalledVersion, "version" | "enabled">>(
  versions: readonly Version[],
): Version | undefined {
  const enabled = versions.filter((version) => version.enabled);
  return enabled.find(({ version }) => version === latestVersion) ?? enabled.find(isStable) ?? enabled[0];
}

/** Returns the enabled versions that prevent `to` from becoming active. The caller must disable them in this order. */
export function conflictingVersions(to: InstalledVersion, versions: readonly InstalledVersion[]): InstalledVersion[] {
  const inTheWay: InstalledVersion[] = [];
  let left = versions.map((installed) => (installed === to ? { ...to, enabled: true } : installed));
  for (let first = activeVersionOf(left); first !== undefined && first.version !== to.version; first = activeVersionOf(left)) {
    inTheWay.push(first);
    left = left.filter((installed) => installed !== first);
  }
  return inTheWay;
}

/**
 * Returns the version to which a rollback leads: the highest enabled version below `from`, or the highest disabled version if none is
 * enabled. Prefers stable versions, unless `from` is a prerelease.
 */
export function versionBefore<Version extends Pick<InstalledVersion, "version" | "enabled">>(
  from: Version | undefined,
  versions: readonly Version[],
): Version | undefined {
  if (from === undefined) return undefined;
  const lower = versions.slice(versions.indexOf(from) + 1);
  const enabled = lower.filter((installed) => installed.enabled);
  const candidates = enabled.length > 0 ? enabled : lower;
  const isPrerelease = !isStable(from) && from.version !== latestVersion;
  return isPrerelease ? candidates[0] : (candidates.find(isStable) ?? candidates[0]);
}

function isStable({ version }: Pick<InstalledVersion, "version">): boolean {
  return version !== latestVersion && !version.split("+")[0]?.includes("-");
}

/**
 * Compares two versions for a list with `latest` first, then the newer versions first. Keeps the given order of versions that are not valid
 * semver.
 */
export function newestFirst(one: string, other: string): number {
  if (one === latestVersion || other === latestVersion) return Number(other === latestVersion) - Number(one === latestVersion);
  return isPackageVersion(one) && isPackageVersion(other) ? compareBuild(other, one) : 0;
}
