import { longestManifestBytes, parseManifest } from "../../../shared/manifest-yaml.js";
import { metadataFileNames } from "../../../shared/metadata-file-names.js";
import { readMetadataText } from "../package-metadata.js";
import type { FileCaller } from "./file-place.js";
import type { PackageKeeper } from "./package-keeper.js";
import { PinnedFolder } from "./pinned-folder.js";
import type { Unit } from "./unit.js";

const longestMetadataBytes = 1024 * 1024;

/** What a change does to the files directly in a unit, by their names. */
export interface RootChange {
  readonly unit: Unit;
  readonly gone?: readonly string[];
  /** Reads a file that comes, by a path that is good for that long. */
  readonly come?: ReadonlyMap<string, (read: (file: string) => void) => void>;
}

/**
 * Refuses a change by which a package would count under a name that the caller may not manage: its metadata says the name, whatever
 * its folder is called. All of its files are looked at, since the next change may let another one count.
 */
export function checkMetadata(keeper: PackageKeeper, caller: FileCaller, { unit, gone = [], come = new Map() }: RootChange): void {
  if (!metadataFileNames.some((name) => gone.includes(name) || come.has(name))) return;
  const check = (name: string, file: string) => checkFields(keeper, caller, unit, declaredIn(name, file));
  for (const name of metadataFileNames) {
    const reading = come.get(name);
    if (reading) reading((file: string) => check(name, file));
    else if (!gone.includes(name)) inUnitFolder(unit, (folder) => check(name, folder.pathOf(name)));
  }
}

function checkFields(keeper: PackageKeeper, caller: FileCaller, unit: Unit, fields: Readonly<Record<string, unknown>>): void {
  const { name } = fields;
  if (typeof name === "string") caller.assertCovers(name);
  keeper.assertAcceptable(unit, fields);
}

/** A file that cannot be read as metadata makes a package that is not served, under the name of its place. */
function declaredIn(name: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const text = readMetadataText(file, name === "package.json" ? longestMetadataBytes : longestManifestBytes);
    if (text === undefined) return {};
    const fields: unknown = name === "package.json" ? JSON.parse(text) : parseManifest(text, name).fields;
    return typeof fields === "object" && fields !== null ? (fields as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function inUnitFolder(unit: Unit, work: (folder: PinnedFolder) => void): void {
  let folder: PinnedFolder;
  try {
    folder = PinnedFolder.open(unit.directory, unit.segments);
  } catch {
    // It is yet to come, or no folder; the change itself tells of that.
    return;
  }
  try {
    work(folder);
  } finally {
    folder.close();
  }
}
