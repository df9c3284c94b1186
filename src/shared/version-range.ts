import satisfies from "semver/functions/satisfies.js";
import { latestVersion } from "./package-name.js";

/** Matches a version range that the daemon serves, such as `1`, `1.4`, `1.4.2`, `^1.2.0` or `~1.2`. */
const rangePattern = /^[\^~]?\d{1,9}(?:\.\d{1,9}){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const longestRange = 200;

/** Whether a text is a version range that the daemon serves. All other semver ranges, such as `>=1`, select no version. */
export function isVersionRange(text: string): boolean {
  return text.length <= longestRange && rangePattern.test(text);
}

/** Whether a version, also a prerelease, is in a range that the daemon serves. The version `latest` is in no range. */
export function isInRange(version: string, range: string): boolean {
  return version !== latestVersion && satisfies(version, range, { includePrerelease: true });
}
