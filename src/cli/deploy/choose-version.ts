import semver from "semver";
import { answeringVersion, type InstalledVersion } from "../../shared/worker-versions.js";
import { latestVersion } from "../../shared/package-name.js";
import type { PackageInfo } from "../pack/package-info.js";

/** Version of the first deployment of a worker without a version. */
const firstVersion = "0.1.0";
/** The version 0.0.0 in package.json, which marks projects that are not published. */
const unusedVersion = "0.0.0";

export interface ChosenVersion {
  readonly version: string;
  /**
   * `declared`: the command line or the manifest contains the version. `assigned`: `deploy` chose the next free version. `latest`: the
   * deployment replaces the installed version `latest`.
   */
  readonly origin: "declared" | "assigned" | "latest";
}

/**
 * Returns the declared version, else `latest` if that is active (unless `isBump`). Else returns the version of package.json if it is the
 * highest, otherwise one patch or prerelease above the highest installed version.
 */
export function chooseVersion(
  { version, hasDeclaredVersion = false, packageJson }: Pick<PackageInfo, "version" | "hasDeclaredVersion" | "packageJson">,
  installed: readonly Pick<InstalledVersion, "version" | "enabled">[],
  isBump: boolean,
): ChosenVersion {
  if (hasDeclaredVersion) return { version, origin: "declared" };
  if (!isBump && answeringVersion(installed)?.version === latestVersion) return { version: latestVersion, origin: "latest" };
  const [highest] = installed.flatMap(({ version: each }) => semver.parse(each) ?? []).toSorted(semver.rcompare);
  const given =
    typeof packageJson?.version === "string" && packageJson.version !== unusedVersion ? semver.parse(packageJson.version) : null;
  if (given && (!highest || semver.gt(given, highest))) return { version: given.version, origin: "assigned" };
  return { version: highest?.inc(highest.prerelease.length > 0 ? "prerelease" : "patch").version ?? firstVersion, origin: "assigned" };
}
