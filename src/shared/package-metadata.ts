import { ApiError } from "./api-error.js";
import { isPackageName, isPackageVersion, latestVersion } from "./package-name.js";

type Fields = Readonly<Record<string, unknown>>;

/** The metadata of a worker or plugin package. */
export interface PackageMetadata {
  readonly name: string;
  /** Package version in strict semver form, or `latest` if the package declares no version. */
  readonly version: string;
  readonly enabled: boolean;
  /** The fields of the manifest, and those fields of package.json that the manifest does not set. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields of the manifest only. Undefined if the package has no manifest. */
  readonly declared: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the package name. Throws `MISSING_PACKAGE_NAME` or `INVALID_PACKAGE_NAME`. */
export function nameOf(fields: Fields): string {
  const name = fields["name"];
  if (typeof name !== "string" || name === "") {
    throw new ApiError(
      "MISSING_PACKAGE_NAME",
      "The package has no name. Add `name: my-app` to its manifest.yaml, or a name to package.json.",
    );
  }
  if (!isPackageName(name)) {
    throw new ApiError(
      "INVALID_PACKAGE_NAME",
      `${JSON.stringify(name.slice(0, 214))} cannot be a package name. Use lower-case letters, digits, dots, dashes and underscores, optionally with @scope/ in front.`,
    );
  }
  return name;
}

/**
 * Returns the package version. Throws `INVALID_PACKAGE_VERSION`. `writtenAs` is the YAML text of the version, because YAML parses `1.10` as
 * the number 1.1.
 */
export function versionOf(fields: Fields, writtenAs: string | undefined): string {
  const version = fields["version"] ?? latestVersion;
  if (typeof version === "number") {
    const written = writtenAs ?? String(version);
    throw new ApiError(
      "INVALID_PACKAGE_VERSION",
      `YAML reads the version ${written} as a number, but a version must be text. Write the version in quotes, such as version: "${completed(written)}".`,
    );
  }
  if (typeof version === "string" && isPackageVersion(version)) return version;
  throw new ApiError(
    "INVALID_PACKAGE_VERSION",
    `The version ${(JSON.stringify(version) ?? "").slice(0, 200)} is not valid. Write a version such as 1.4.2, or remove the version to use latest.`,
  );
}

/** Completes a version such as `1.10` to `1.10.0`, for the suggestion in the error message. */
function completed(written: string): string {
  if (!/^\d+(\.\d+)?$/.test(written)) return "1.0.0";
  return written.includes(".") ? `${written}.0` : `${written}.0.0`;
}

/** Returns the `enabled` field. Throws `INVALID_PACKAGE_METADATA` unless it is true, false or absent. */
export function enabledOf(fields: Fields): boolean {
  const enabled = fields["enabled"] ?? true;
  if (typeof enabled === "boolean") return enabled;
  throw new ApiError(
    "INVALID_PACKAGE_METADATA",
    `The field enabled of the manifest is ${JSON.stringify(enabled)}. Write true or false, without quotes.`,
  );
}
