import { isReservedByWindows } from "./file-name.js";

/** npm's grammar, lower case only: `name` or `@scope/name`. */
const namePattern = /^(?:@([a-z0-9][a-z0-9._-]*)\/)?([a-z0-9][a-z0-9._-]*)$/;
const maximumNameLength = 214;
/** Strict semver (https://semver.org), or the word `latest`. */
const versionPattern =
  /^(?:latest|(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?)$/;
const namesNpmReserves = new Set(["node_modules", "favicon.ico"]);
/** 255 bytes is the longest folder name that Linux takes. */
const maximumVersionLength = 200;

/** The version of a package that declares none. */
export const latestVersion = "latest";

export function isPackageName(text: string): boolean {
  if (text.length > maximumNameLength || !namePattern.test(text)) return false;
  const name = text.slice(text.indexOf("/") + 1);
  return !namesNpmReserves.has(name) && !isReservedByWindows(name);
}

export function isPackageVersion(text: string): boolean {
  return text.length <= maximumVersionLength && versionPattern.test(text);
}

/** `@scope` of a scoped name; undefined for an unscoped one. */
function scopeOf(name: string): string | undefined {
  return name.startsWith("@") ? name.slice(0, name.indexOf("/")) : undefined;
}

/** The segment that stands for "no scope" in API paths. */
const unscopedSegment = "_";

/** The two path segments by which the API addresses a package. */
export function toPathSegments(name: string): { scope: string; name: string } {
  const scope = scopeOf(name);
  return scope === undefined ? { scope: unscopedSegment, name } : { scope, name: name.slice(scope.length + 1) };
}

/** The package name behind `:scope/:name` of an API path; what breaks the grammar is left to `isPackageName`. */
export function fromPathSegments(segments: { scope: string; name: string }): string {
  return segments.scope === unscopedSegment ? segments.name : `${segments.scope}/${segments.name}`;
}
