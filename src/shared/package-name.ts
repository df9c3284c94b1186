import { isReservedByWindows } from "./file-name.js";

/** Matches a package name: `name` or `@scope/name` by the rules of npm, in lower case only. */
const namePattern = /^(?:@([a-z0-9][a-z0-9._-]*)\/)?([a-z0-9][a-z0-9._-]*)$/;
const maximumNameLength = 214;
/** Matches a version in strict semver form (https://semver.org), or the word `latest`. */
const versionPattern =
  /^(?:latest|(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?)$/;
const namesNpmReserves = new Set(["node_modules", "favicon.ico"]);
/** Maximum length of a version in characters. The limit is below 255 bytes, the longest file name on Linux. */
const maximumVersionLength = 200;

/** The version of a package that declares no version. */
export const latestVersion = "latest";

export function isPackageName(text: string): boolean {
  if (text.length > maximumNameLength || !namePattern.test(text)) return false;
  const name = text.slice(text.indexOf("/") + 1);
  return !namesNpmReserves.has(name) && !isReservedByWindows(name);
}

export function isPackageVersion(text: string): boolean {
  return text.length <= maximumVersionLength && versionPattern.test(text);
}

/** Returns the `@scope` of a scoped package name. Undefined for an unscoped name. */
function scopeOf(name: string): string | undefined {
  return name.startsWith("@") ? name.slice(0, name.indexOf("/")) : undefined;
}

/** The path segment that stands for the missing scope of an unscoped package in API paths. */
const unscopedSegment = "_";

/** Returns the two path segments that identify a package in API paths. */
export function toPathSegments(name: string): { scope: string; name: string } {
  const scope = scopeOf(name);
  return scope === undefined ? { scope: unscopedSegment, name } : { scope, name: name.slice(scope.length + 1) };
}

/** Returns the package name for the two path segments of an API path. Does not validate the name. */
export function fromPathSegments(segments: { scope: string; name: string }): string {
  return segments.scope === unscopedSegment ? segments.name : `${segments.scope}/${segments.name}`;
}
