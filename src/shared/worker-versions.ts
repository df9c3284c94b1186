import compareBuild from "semver/functions/compare-build.js";
import type { Worker } from "./contract/workers.js";
import type { Installation } from "./installation.js";
import { isPackageVersion, latestVersion } from "./package-name.js";

export interface InstalledVersion {
  readonly version: string;
  readonly enabled: boolean;
  readonly source: Worker["source"];
  /** Folder of the worker on the server. */
  readonly path: string;
  /** Record of the upload. Undefined for a version that was not uploaded. */
  readonly installation?: Installation | undefined;
}

/** A worker with all of its versions, newest first. In the API list, built-in and uploaded versions are separate rows. */
export interface InstalledWorker {
  readonly name: string;
  readonly versions: readonly InstalledVersion[];
}

/** Combines the API rows of one worker. */
export function toInstalledWorker(name: string, rows: readonly Worker[]): InstalledWorker {
  return { name, versions: installedVersions(rows) };
}

/** Returns the versions of one worker, newest first, from its API rows. */
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

/** Returns the active version: an enabled `latest`, else the highest enabled stable version, else the highest enabled version. */
export function answeringVersion<Version extends Pick<InstalledVersion, "version" | "enabled">>(
  versions: readonly Version[],
): Version | undefined {
  const enabled = versions.filter((version) => version.enabled);
  return enabled.find(({ version }) => version === latestVersion) ?? enabled.find(isStable) ?? enabled[0];
}

/** Returns the enabled versions that prevent `to` from becoming active, in the order in which the caller must disable them. */
export function conflictingVersions(to: InstalledVersion, versions: readonly InstalledVersion[]): InstalledVersion[] {
  const inTheWay: InstalledVersion[] = [];
  let left = versions.map((installed) => (installed === to ? { ...to, enabled: true } : installed));
  for (let first = answeringVersion(left); first !== undefined && first.version !== to.version; first = answeringVersion(left)) {
    inTheWay.push(first);
    left = left.filter((installed) => installed !== first);
  }
  return inTheWay;
}

/**
 * Returns the version to roll back to: the next enabled version below `from`, or if none is enabled, the next disabled one. If `from` is
 * stable or `latest`, prefers a stable version.
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

/** Compares two versions so that newer versions come first. Keeps the order of versions that are not valid semver. */
export function newestFirst(one: string, other: string): number {
  if (one === latestVersion || other === latestVersion) return Number(other === latestVersion) - Number(one === latestVersion);
  return isPackageVersion(one) && isPackageVersion(other) ? compareBuild(other, one) : 0;
}
