import { isPackageName, isPackageVersion } from "../../shared/package-name.js";
import { usageError } from "./command-error.js";

export interface PackageReference {
  readonly name: string;
  readonly version: string | undefined;
}

/** Splits `@scope/name@1.2.0` at the last `@` that is not the first character. */
export function parsePackageReference(text: string): PackageReference {
  const at = text.lastIndexOf("@");
  const name = at > 0 ? text.slice(0, at) : text;
  const version = at > 0 ? text.slice(at + 1) : undefined;
  if (!isPackageName(name)) throw notAName(name, "worker");
  if (version !== undefined && !isPackageVersion(version))
    throw usageError(`${JSON.stringify(version)} is not a version`, "use a version such as 1.2.0, or latest");
  return { name, version };
}

/** A reference that must name one version. */
export function parseVersionReference(text: string): { readonly name: string; readonly version: string } {
  const { name, version } = parsePackageReference(text);
  if (version === undefined)
    throw usageError(`the version of ${name} is missing`, `use ${name}@VERSION, such as ${name}@1.2.0 or ${name}@latest`);
  return { name, version };
}

/** Checks a plugin name. A version is not allowed: only one version of a plugin can be installed. */
export function parsePluginName(text: string): string {
  if (isPackageName(text)) return text;
  const at = text.lastIndexOf("@");
  if (at > 0 && isPackageName(text.slice(0, at)))
    throw usageError(`only one version of a plugin is installed: use its name without a version`, `use ${text.slice(0, at)}`);
  throw notAName(text, "plugin");
}

function notAName(text: string, kind: string): Error {
  return usageError(`${JSON.stringify(text)} is not a valid ${kind} name`, "use a name such as hello or @team/app");
}
