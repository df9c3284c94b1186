import { isReservedByWindows } from "../file-name.js";
import { invalidArchive, pathTraversal, shown } from "./refusal.js";

const longestSegmentBytes = 255;
const longestNameBytes = 1024;
const deepestName = 100;

/** Matches control characters, and invisible characters that change how a terminal or browser displays a name. */
// oxlint-disable-next-line no-control-regex -- matches control characters
const hiddenCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;
const driveLetter = /^[a-z]:/i;
const charactersWindowsRefuses = /[<>:"|?*]/;

/**
 * Returns the path segments of the name of an archive entry: an empty list for the archive root. Throws `PATH_TRAVERSAL` if the name leads
 * out of the root, and `INVALID_ARCHIVE` if an operating system rejects the name.
 */
export function entrySegments(name: string, kind: "file" | "directory"): string[] {
  if (name === "") throw invalidArchive("an entry has no name");
  if (hiddenCharacters.test(name)) throw invalidArchive(`the name ${shown(name)} has control or invisible characters`);
  if (/^[/\\]/.test(name) || driveLetter.test(name) || name.split(/[/\\]/).includes("..")) throw pathTraversal(name);
  if (name.includes("\\")) throw invalidArchive(`the name ${shown(name)} has a backslash`);
  if (byteLength(name) > longestNameBytes) {
    throw invalidArchive(`the name ${shown(name)} is longer than ${longestNameBytes} bytes`);
  }
  const withoutSlash = kind === "directory" && name.endsWith("/") ? name.slice(0, -1) : name;
  const segments = withoutSlash.split("/");
  if (kind === "file" && segments.at(-1) === ".") throw invalidArchive(`the name ${shown(name)} does not name a file`);
  const named = segments.filter((segment) => segment !== ".");
  if (named.length > deepestName) throw invalidArchive(`the name ${shown(name)} is more than ${deepestName} folders deep`);
  for (const segment of named) checkSegment(segment, name);
  return named;
}

function checkSegment(segment: string, name: string): void {
  if (segment === "") throw invalidArchive(`the name ${shown(name)} has an empty part`);
  if (byteLength(segment) > longestSegmentBytes) throw invalidArchive(`a part of the name ${shown(name)} is longer than 255 bytes`);
  if (!existsEverywhere(segment)) throw invalidArchive(`the name ${shown(name)} is not a valid file name on Windows`);
}

function existsEverywhere(segment: string): boolean {
  return !charactersWindowsRefuses.test(segment) && !isReservedByWindows(segment) && !/[. ]$/.test(segment);
}

/**
 * Returns the reason why a path segment is not a valid file name, by the rules for archive entries. Undefined if the path segment is valid.
 */
export function nameProblem(segment: string): string | undefined {
  if (hiddenCharacters.test(segment)) return "it has control or invisible characters";
  return existsEverywhere(segment) ? undefined : "it cannot exist on Windows";
}

/**
 * Returns the length of a text in UTF-8 bytes. For a text too short to exceed the limit, returns the number of characters instead of
 * encoding the text: a character (UTF-16 unit) takes at most 3 bytes.
 */
function byteLength(text: string): number {
  return text.length * 3 <= longestSegmentBytes ? text.length : new TextEncoder().encode(text).length;
}

/**
 * Whether a symbolic link with the entry name `name` points outside of the package. The package root is the archive root, or the folder
 * `package/` in the archive root.
 */
export function linkLeavesPackage(name: string, target: string): boolean {
  if (/^[/\\]/.test(target) || driveLetter.test(target)) return true;
  const folders = name.split("/").filter((segment) => segment !== "" && segment !== ".");
  folders.pop();
  let depth = folders[0] === "package" ? folders.length - 1 : folders.length;
  for (const segment of target.split(/[/\\]/)) {
    if (segment === "..") depth -= 1;
    else if (segment !== "" && segment !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
