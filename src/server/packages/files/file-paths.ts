import { shown } from "../../../shared/archive/refusal.js";
import type { PackageOwner, Mount } from "./mounts.js";
import { notFound, notWritable } from "./file-transaction.js";
import { unitIn, type Layout, type Unit } from "./package-folder.js";
import { ApiError } from "../../../shared/api-error.js";
import { nameProblem } from "../../../shared/archive/entry-name.js";
import { installationFileName } from "../../../shared/installation-file-name.js";

const longestPathBytes = 4096;
const longestSegmentBytes = 255;
const deepestPath = 100;

/** Whom the files are shown to, and for whom they are changed. */
export interface FileCaller {
  /** Whether packages of that name are theirs to see. */
  readonly covers: (packageName: string) => boolean;
  /** Throws when they are not. */
  readonly assertCovers: (packageName: string) => void;
}

/** A place below a mount: the caller may see it. Whether anything is there is another question. */
export interface FilePlace {
  /** As messages and answers have it. */
  readonly path: string;
  readonly mount: Mount;
  readonly below: readonly string[];
}

/** A place in a unit that may be changed. */
export interface WritablePlace extends FilePlace {
  readonly unit: Unit;
  /** Below the unit; none for the unit itself. */
  readonly inUnit: readonly string[];
}

/** What paths mean, and who may use them for what. */
export class FilePlaces {
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #layout: Layout;
  readonly #keeper: PackageOwner;

  constructor(options: { mounts: ReadonlyMap<string, Mount>; layout: Layout; keeper: PackageOwner }) {
    this.#mounts = options.mounts;
    this.#layout = options.layout;
    this.#keeper = options.keeper;
  }

  /** Undefined for the list of mounts. */
  readable(text: string, caller: FileCaller): FilePlace | undefined {
    const [mountName, ...below] = pathSegments(text);
    if (mountName === undefined) return undefined;
    const mount = this.#mounts.get(mountName);
    // Where changes are prepared, and whatever else is hidden among the packages.
    if (!mount || below[0]?.startsWith(".")) throw notFound(text);
    const name = packageNameAt(below);
    if (name !== undefined) caller.assertCovers(name);
    return { path: [mountName, ...below].join("/"), mount, below };
  }

  /** Throws unless the place is a unit or lies in one, and that is neither built in nor another's. */
  writable(text: string, caller: FileCaller): WritablePlace {
    const place = this.readable(text, caller);
    const unit = place && unitIn(place.mount, place.below, this.#layout);
    if (!place || !unit) throw notWritable(text, "files are changed in the folder of a package only");
    if (place.mount.source === "built-in") throw notWritable(text, `what lies in ${shown(place.mount.name)} is built in`);
    for (const name of this.#keeper.namesIn(unit)) caller.assertCovers(name);
    return { ...place, unit, inUnit: place.below.slice(unit.segments.length) };
  }

  /** Like `writable`, for what lies in a unit and is not the unit itself. */
  inUnit(text: string, caller: FileCaller): WritablePlace & { readonly name: string } {
    const place = this.writable(text, caller);
    const name = place.inUnit.at(-1);
    if (name === undefined) throw notWritable(text, "the folder of a package keeps its place");
    return { ...place, name };
  }

  get mounts(): Mount[] {
    return [...this.#mounts.values()];
  }
}

/** The name of the package that a place below a mount belongs to; of a scope's folder what stands for all in it. */
export function packageNameAt([first, second = ""]: readonly string[]): string | undefined {
  return first?.startsWith("@") ? `${first}/${second}` : first;
}

/**
 * The segments of a path as a caller writes it; none for the list of mounts. It is taken as it is, decoded by nobody again, and in the
 * Unicode form in which it came. A slash at either end says nothing.
 */
function pathSegments(text: string): string[] {
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
      `The path ${shown(path)} is not valid. Begin it with a listed directory, without "..", ".", "//" and "\\".`,
    );
  }
  if (/\p{Cc}|\p{Cs}/u.test(segment)) throw unusable(path, "it has characters that no name may have");
  if (Buffer.byteLength(segment) > longestSegmentBytes) throw unusable(path, `a part of it is longer than ${longestSegmentBytes} bytes`);
}

/** Refuses names that are to come into being and that not every system can hold, as archives do. */
export function checkNewName(name: string): void {
  if (name.includes("/")) throw new ApiError("PATH_TRAVERSAL", `The name ${shown(name)} is not valid: a name has no "/".`);
  checkSegment(name, name);
  if (name === installationFileName) throw unusable(name, "the daemon writes it when a version is installed");
  const problem = nameProblem(name);
  if (problem !== undefined) throw unusable(name, problem);
}

function unusable(path: string, why: string): ApiError {
  return new ApiError("INVALID_REQUEST", `The path ${shown(path)} cannot be used: ${why}.`);
}
