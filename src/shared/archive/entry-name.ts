import { isReservedByWindows } from "../file-name.js";
import { invalidArchive, pathTraversal, shown } from "./refusal.js";

const longestSegmentBytes = 255;
const longestNameBytes = 1024;
const deepestName = 100;

/** Control characters, and those that make a name read differently from what it is. */
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const hiddenCharacters = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;
const driveLetter = /^[a-z]:/i;
const charactersWindowsRefuses = /[<>:"|?*]/;

/**
 * The segments of an entry's name below the archive's root; none for the root itself.
 * Throws `PATH_TRAVERSAL` for a name that leaves the root, `INVALID_ARCHIVE` for one that not every system can hold.
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
  if (kind === "file" && segments.at(-1) === ".") throw invalidArchive(`the name ${shown(name)} is not that of a file`);
  const named = segments.filter((segment) => segment !== ".");
  if (named.length > deepestName) throw invalidArchive(`the name ${shown(name)} is more than ${deepestName} folders deep`);
  for (const segment of named) checkSegment(segment, name);
  return named;
}

function checkSegment(segment: string, name: string): void {
  if (segment === "") throw invalidArchive(`the name ${shown(name)} has an empty part`);
  if (byteLength(segment) > longestSegmentBytes) throw invalidArchive(`a part of the name ${shown(name)} is longer than 255 bytes`);
  if (!existsEverywhere(segment)) throw invalidArchive(`the name ${shown(name)} cannot exist on Windows`);
}

function existsEverywhere(segment: string): boolean {
  return !charactersWindowsRefuses.test(segment) && !isReservedByWindows(segment) && !/[. ]$/.test(segment);
}

/** Why one part of a path is no name that should come into being; the rules for entries of archives, without those for whole paths. */
export function nameProblem(segment: string): string | undefined {
  if (hiddenCharacters.test(segment)) return "it has control or invisible characters";
  return existsEverywhere(segment) ? undefined : "it cannot exist on Windows";
}

/** A character of JavaScript takes three bytes of UTF-8 at most, and most names are short. */
function byteLength(text: string): number {
  return text.length * 3 <= longestSegmentBytes ? text.length : new TextEncoder().encode(text).length;
}

/** Whether a link at `name` points outside of the package, whose root is the archive's or its `package/` folder. */
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
