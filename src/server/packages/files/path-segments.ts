import { ApiError } from "../../../shared/api-error.js";
import { nameProblem } from "../../../shared/archive/entry-name.js";
import { shown } from "../../../shared/archive/refusal.js";
import { installationFileName } from "../../../shared/installation-file-name.js";

const longestPathBytes = 4096;
const longestSegmentBytes = 255;
const deepestPath = 100;

/**
 * The segments of a path as a caller writes it; none for the list of mounts. It is taken as it is, decoded by nobody again, and in the
 * Unicode form in which it came. A slash at either end says nothing.
 */
export function pathSegments(text: string): string[] {
  if (Buffer.byteLength(text) > longestPathBytes) throw unusable(text, `it is longer than ${longestPathBytes} bytes`);
  const trimmed = text.replace(/^\//, "").replace(/\/$/, "");
  if (trimmed === "") return [];
  const segments = trimmed.split("/");
  if (segments.length > deepestPath) throw unusable(text, `it is more than ${deepestPath} folders deep`);
  for (const segment of segments) checkSegment(segment, text);
  return segments;
}

function checkSegment(segment: string, path: string): void {
  if (segment === "" || segment === "." || segment === ".." || segment.includes("\\")) {
    throw new ApiError(
      "PATH_TRAVERSAL",
      `The path ${shown(path)} is refused: write it from the mount on, without "..", ".", "//" and "\\".`,
    );
  }
  if (/\p{Cc}|\p{Cs}/u.test(segment)) throw unusable(path, "it has characters that no name may have");
  if (Buffer.byteLength(segment) > longestSegmentBytes) throw unusable(path, `a part of it is longer than ${longestSegmentBytes} bytes`);
}

/** Refuses names that are to come into being and that not every system can hold, as archives do. */
export function checkNewName(name: string): void {
  if (name.includes("/")) throw new ApiError("PATH_TRAVERSAL", `The name ${shown(name)} is refused: a name has no "/".`);
  checkSegment(name, name);
  if (name === installationFileName) throw unusable(name, "the daemon writes it when a version is installed");
  const problem = nameProblem(name);
  if (problem !== undefined) throw unusable(name, problem);
}

function unusable(path: string, why: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The path ${shown(path)} cannot be used: ${why}.`);
}
