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
  /** Undefined when it was not uploaded. */
  readonly installation?: Installation | undefined;
}

/** A worker with its versions, newest first, wherever they come from: the list has a row for each source. */
export interface InstalledWorker {
  readonly name: string;
  readonly versions: readonly InstalledVersion[];
}

/** A worker from all its rows of the list. */
export function toInstalledWorker(name: string, rows: readonly Worker[]): InstalledWorker {
  return { name, versions: installedVersions(rows) };
}

/** The versions of one worker, newest first; the list has a row for those that are built in and one for those that were uploaded. */
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

/** Which of these versions, newest first, answers: an enabled `latest`, else the highest stable one that is enabled, else the highest. */
export function answeringVersion<Version extends Pick<InstalledVersion, "version" | "enabled">>(
  versions: readonly Version[],
): Version | undefined {
  const enabled = versions.filter((version) => version.enabled);
  return enabled.find(({ version }) => version === latestVersion) ?? enabled.find(isStable) ?? enabled[0];
}

/** Those that are on and would answer in the stead of `to`, in the order in which they go. */
export function conflictingVersions(to: InstalledVersion, versions: readonly InstalledVersion[]): InstalledVersion[] {
  const inTheWay: InstalledVersion[] = [];
  let left = versions.map((installed) => (installed === to ? { ...to, enabled: true } : installed));
  for (let first = answeringVersion(left); first !== undefined && first.version !== to.version; first = answeringVersion(left)) {
    inTheWay.push(first);
    left = left.filter((installed) => installed !== first);
  }
  return inTheWay;
}

export function isStable({ version }: Pick<InstalledVersion, "version">): boolean {
  return version !== latestVersion && !version.split("+")[0]?.includes("-");
}

/** What a server calls a version need not be one; such names stay where they are. */
function newestFirst(one: string, other: string): number {
  if (one === latestVersion || other === latestVersion) return Number(other === latestVersion) - Number(one === latestVersion);
  return isPackageVersion(one) && isPackageVersion(other) ? compareBuild(other, one) : 0;
}
