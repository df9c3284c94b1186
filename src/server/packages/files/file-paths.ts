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

/** The principal of a file operation. */
export interface FileCaller {
  /** Returns whether the principal can see packages with that name. */
  readonly covers: (packageName: string) => boolean;
  /** Throws when the principal cannot manage packages with that name. */
  readonly assertCovers: (packageName: string) => void;
  /** True when the caller is allowed to see the values of `env` in manifests. */
  readonly seesValues: boolean;
}

/** A path below a mount that the caller can see. The path can be missing on the disk. */
export interface FilePlace {
  /** The path, as messages and responses show it. */
  readonly path: string;
  readonly mount: Mount;
  readonly below: readonly string[];
}

/** A path in a package folder that the caller can change. */
export interface WritablePlace extends FilePlace {
  readonly unit: Unit;
  /** Path segments below the package folder; empty for the folder itself. */
  readonly inUnit: readonly string[];
}

/** Resolves paths and checks the caller's permission. */
export class FilePlaces {
  readonly #mounts: ReadonlyMap<string, Mount>;
  readonly #layout: Layout;
  readonly #keeper: PackageOwner;

  constructor(options: { mounts: ReadonlyMap<string, Mount>; layout: Layout; keeper: PackageOwner }) {
    this.#mounts = options.mounts;
    this.#layout = options.layout;
    this.#keeper = options.keeper;
  }

  /** Resolves a path for reading. Returns undefined for the list of mounts. */
  readable(text: string, caller: FileCaller): FilePlace | undefined {
    const [mountName, ...below] = pathSegments(text);
    if (mountName === undefined) return undefined;
    const mount = this.#mounts.get(mountName);
    // Staging areas and other folders with a leading dot are hidden.
    if (!mount || below[0]?.startsWith(".")) throw notFound(text);
    const name = packageNameAt(below);
    if (name !== undefined) caller.assertCovers(name);
    return { path: [mountName, ...below].join("/"), mount, below };
  }

  /** Throws unless the path is in a package folder that is not built in and belongs to the caller's namespaces. */
  writable(text: string, caller: FileCaller): WritablePlace {
    const place = this.readable(text, caller);
    const unit = place && unitIn(place.mount, place.below, this.#layout);
    if (!place || !unit) throw notWritable(text, "files are changed in the folder of a package only");
    if (place.mount.source === "built-in") throw notWritable(text, `what lies in ${shown(place.mount.name)} is built in`);
    for (const name of this.#keeper.namesIn(unit)) caller.assertCovers(name);
    return { ...place, unit, inUnit: place.below.slice(unit.segments.length) };
  }

  /** Resolves a path like `writable`, but rejects the package folder itself. */
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

/** Returns the package name of a path below a mount. For the folder of a scope, returns a name that matches all packages of the scope. */
export function packageNameAt([first, second = ""]: readonly string[]): string | undefined {
  return first?.startsWith("@") ? `${first}/${second}` : first;
}

/**
 * Returns the segments of a path; empty for the list of mounts. The path is not decoded and keeps its Unicode form. Ignores slashes at both
 * ends.
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

/** Rejects new names that some systems cannot store, like archives do. */
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
