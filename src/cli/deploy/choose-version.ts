import semver from "semver";
import { activeVersionOf, type InstalledVersion } from "../../shared/worker-versions.js";
import { latestVersion } from "../../shared/package-name.js";
import type { PackageInfo } from "../pack/package-info.js";

/** Version of the first deployment if neither the package nor the user sets a version. */
const firstVersion = "0.1.0";
/** Version in the package.json of projects that are never published. Because the number has no meaning, `deploy` ignores it. */
const unusedVersion = "0.0.0";

export interface ChosenVersion {
  readonly version: string;
  /**
   * Source of the version. `declared`: command line or manifest. `assigned`: `deploy` chose the next free version. `latest`: the deployment
   * replaces the installed version `latest`.
   */
  readonly origin: "declared" | "assigned" | "latest";
}

/**
 * Returns a declared version. Without one, returns `latest` if it is active and `isBump` is false. Otherwise returns the version of
 * package.json if it is above all installed versions, else the patch or prerelease after the highest.
 */
export function chooseVersion(
  { version, hasDeclaredVersion = false, packageJson }: Pick<PackageInfo, "version" | "hasDeclaredVersion" | "packageJson">,
  installed: readonly Pick<InstalledVersion, "version" | "enabled">[],
  isBump: boolean,
): ChosenVersion {
  if (hasDeclaredVersion) return { version, origin: "declared" };
  if (!isBump && activeVersionOf(installed)?.version === latestVersion) return { version: latestVersion, origin: "latest" };
  const highest = highestOf(installed);
  const given =
    typeof packageJson?.version === "string" && packageJson.version !== unusedVersion ? semver.parse(packageJson.version) : null;
  if (given && (!highest || semver.gt(given, highest))) return { version: given.version, origin: "assigned" };
  return { version: nextVersion(installed), origin: "assigned" };
}

/** Returns the patch or prerelease after the highest of the versions. Returns `firstVersion` if none of them is a number. */
export function nextVersion(installed: readonly Pick<InstalledVersion, "version">[]): string {
  const highest = highestOf(installed);
  return highest?.inc(highest.prerelease.length > 0 ? "prerelease" : "patch").version ?? firstVersion;
}

function highestOf(installed: readonly Pick<InstalledVersion, "version">[]): semver.SemVer | undefined {
  return installed.flatMap(({ version }) => semver.parse(version) ?? []).toSorted(semver.rcompare)[0];
}
