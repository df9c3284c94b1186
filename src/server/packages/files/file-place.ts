import { shown } from "../../../shared/archive/refusal.js";
import type { PackageOwner } from "./package-owner.js";
import { notFound, notWritable } from "./file-failure.js";
import type { Mount } from "./mounts.js";
import { pathSegments } from "./path-segments.js";
import { unitIn, type Layout, type Unit } from "./unit.js";

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
