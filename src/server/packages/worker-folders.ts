import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
import type { KnownFolders } from "./known-folders.js";
import type { FolderLook } from "./recollection.js";
import { placeOf, readWorkerVersion, type WorkerVersion } from "./worker-version.js";

/** How young a change may be to be told apart from the next one by its time stamp. */
const timestampGrainMs = 100;

/** A version found in a folder. */
export interface FoundVersion extends WorkerVersion {
  readonly folder: string;
  /** The same as long as the folder and its metadata files are the same. */
  readonly identity: string;
}

/** The folder `<directory>/<name>` or `<directory>/@scope/<name>` and what is in it. */
export interface WorkerFolder {
  readonly directory: string;
  readonly folder: string;
  readonly versions: readonly FoundVersion[];
  /** Every path whose change may change this, with the fingerprint it had. */
  readonly watched: ReadonlyMap<string, string>;
}

/**
 * What tells whether a path changed: undefined when it is not there, and never the same twice while it is so young that
 * its time stamp might not move with the next change.
 */
export function fingerprint(target: string): string | undefined {
  const stat = statSync(target, { throwIfNoEntry: false });
  return stat && fingerprintOf(stat);
}

function fingerprintOf(stat: Stats): string {
  const { identity, isSettled } = lookOf(stat);
  return isSettled ? identity : `${identity}:${performance.now()}`;
}

function lookOf(stat: Stats): FolderLook {
  return { identity: identityOf(stat), isSettled: Math.abs(Date.now() - stat.mtimeMs) > timestampGrainMs };
}

function identityOf(stat: Stats): string {
  return `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
}

/** Reads a worker's folder: a package itself, which makes one version, or a folder of versions. */
export function readWorkerFolder(directory: string, folder: string, known: KnownFolders): WorkerFolder {
  const watched = new Map<string, string>();
  const stat = statSync(folder, { throwIfNoEntry: false });
  const read = (versionFolder: string, folderStat: Stats | undefined) =>
    readVersion({ folder: versionFolder, stat: folderStat, place: placeOf(directory, folder, versionFolder) }, watched, known);
  const own = read(folder, stat);
  if (own || !stat) return { directory, folder, versions: own ? [own] : [], watched };
  const listed = known.folders.recall(folder, lookOf(stat), () => namesIfWithoutLinks(folder));
  const versions = (listed?.map((name) => path.join(folder, name)) ?? listFolders(folder, directory)).flatMap(
    (version) => read(version, statSync(version, { throwIfNoEntry: false })) ?? [],
  );
  return { directory, folder, versions, watched };
}

/** Whether anything that was watched is not as it was. */
export function hasChanged(watched: ReadonlyMap<string, string>): boolean {
  for (const [target, before] of watched) if ((fingerprint(target) ?? "") !== before) return true;
  return false;
}

/** Folders in a folder, by name: without dot folders, and without links that lead out of `directory`. */
export function listFolders(folder: string, directory: string): string[] {
  return readEntries(folder)
    .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && leadsInside(path.join(folder, entry.name), directory)))
    .toSorted((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1))
    .map((entry) => path.join(folder, entry.name));
}

/** Names of the folders in a folder; undefined where links may lead to more: what they lead to changes without it. */
function namesIfWithoutLinks(folder: string): string[] | undefined {
  const entries = readEntries(folder);
  if (entries.some((entry) => entry.isSymbolicLink())) return undefined;
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

function readEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  } catch {
    // Gone, or not ours to read: nothing is in it, as far as we can tell.
    return [];
  }
}

function leadsInside(link: string, directory: string): boolean {
  try {
    const target = realpathSync(link);
    return target.startsWith(realpathSync(directory) + path.sep) && statSync(target).isDirectory();
  } catch {
    return false;
  }
}

/** Each path is looked at before it is read: a change during the reading is then seen by the next look. */
function readVersion(
  { folder, stat, place }: { folder: string; stat: Stats | undefined; place: { name: string; version: string } },
  watched: Map<string, string>,
  known: KnownFolders,
): FoundVersion | undefined {
  watched.set(folder, stat ? fingerprintOf(stat) : "");
  if (!stat) return undefined;
  const stats = [stat];
  for (const name of known.metadataFiles.recall(folder, lookOf(stat), () => metadataFileNames.filter((each) => lookAt(folder, each)))) {
    const fileStat = lookAt(folder, name);
    if (!fileStat) continue;
    const file = path.join(folder, name);
    stats.push(fileStat);
    watched.set(file, fileStat.isSymbolicLink() ? (fingerprint(file) ?? "") : fingerprintOf(fileStat));
  }
  if (stats.length === 1) return undefined;
  const identity = stats.map(identityOf).join(" ");
  const isSettled = stats.every((each) => lookOf(each).isSettled && !each.isSymbolicLink());
  const version = known.versions.recall(folder, { identity, isSettled }, () => readWorkerVersion(folder, place));
  return version && { ...version, folder, identity };
}

function lookAt(folder: string, name: string): Stats | undefined {
  return lstatSync(path.join(folder, name), { throwIfNoEntry: false });
}
