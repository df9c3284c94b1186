import { isPackageName, isPackageVersion } from "../../shared/package-name.js";
import type { InstalledVersion } from "../../shared/worker-versions.js";
import { usageError } from "./command-error.js";

export interface PackageReference {
  readonly name: string;
  readonly version: string | undefined;
}

/** Splits a reference such as `@scope/name@1.2.0` into name and version at the last `@`. An `@` at the start belongs to the name. */
export function parsePackageReference(text: string): PackageReference {
  const at = text.lastIndexOf("@");
  const name = at > 0 ? text.slice(0, at) : text;
  const version = at > 0 ? text.slice(at + 1) : undefined;
  if (!isPackageName(name)) throw notAName(name, "worker");
  if (version !== undefined && !isPackageVersion(version))
    throw usageError(`${JSON.stringify(version)} is not a version`, "use a version such as 1.2.0, or latest");
  return { name, version };
}

/**
 * Parses a reference that must contain a version, such as `hello@1.2.0`. If the version is missing, throws a usage error with the installed
 * versions.
 */
export function parseVersionReference(
  text: string,
  installed: readonly Pick<InstalledVersion, "version" | "enabled">[] = [],
): { readonly name: string; readonly version: string } {
  const { name, version } = parsePackageReference(text);
  if (version !== undefined) return { name, version };
  const versions = installed.map((one) => `${one.version}${one.enabled ? "" : " (disabled)"}`).join(", ");
  const examples = versions === "" ? `, such as ${name}@1.2.0` : ` with an installed version: ${versions}`;
  throw usageError(`the version of ${name} is missing`, `use ${name}@VERSION${examples}`);
}

/**
 * Returns the text if it is a valid plugin name, else throws a usage error. Also rejects a version, because the daemon installs only one
 * version of a plugin.
 */
export function parsePluginName(text: string): string {
  if (isPackageName(text)) return text;
  const at = text.lastIndexOf("@");
  if (at > 0 && isPackageName(text.slice(0, at)))
    throw usageError(`${text} contains a version, but a plugin has only one version`, `use ${text.slice(0, at)}`);
  throw notAName(text, "plugin");
}

function notAName(text: string, kind: string): Error {
  return usageError(`${JSON.stringify(text)} is not a valid ${kind} name`, "use a name such as hello or @team/app");
}
