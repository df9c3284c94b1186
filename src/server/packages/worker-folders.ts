import { existsSync, lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
import { versionAtPath, readWorkerVersion, type WorkerVersion } from "./worker-version.js";

/** Resolution of file modification times in ms. Two changes within this time can have the same modification time. */
const timestampGrainMs = 100;

/** A worker version that the daemon has found in a folder. */
export interface FoundVersion extends WorkerVersion {
  readonly folder: string;
  /** Fingerprints of the version folder and its metadata files, as one text. The text differs if one of them was changed. */
  readonly identity: string;
  /** True for a version that only this daemon has, while the other versions of the directory come from a package store. */
  readonly isLocal?: boolean;
}

/** A worker folder with its versions: `<directory>/<name>` or `<directory>/@scope/<name>`. */
export interface WorkerFolder {
  readonly directory: string;
  readonly folder: string;
  readonly versions: readonly FoundVersion[];
  /** All paths on which the content of this object depends, each with its fingerprint. */
  readonly watched: readonly Watched[];
  /** True if the folder or its metadata contains symbolic links. The target of a link can change while all watched paths stay the same. */
  readonly hasLinks: boolean;
}

type Watched = readonly [target: string, fingerprint: string];

/**
 * Returns a text that differs after a change of the file or folder. Undefined for a missing path. In the first 100 ms after a change, each
 * call returns another text, because a further change could have the same modification time.
 */
export function fingerprint(target: string): string | undefined {
  const stat = statSync(target, { throwIfNoEntry: false });
  return stat && fingerprintOf(stat);
}

function fingerprintOf(stat: Stats): string {
  return isSettled(stat) ? identityOf(stat) : `${identityOf(stat)}:${performance.now()}`;
}

function isSettled(stat: Stats): boolean {
  return Math.abs(Date.now() - stat.mtimeMs) > timestampGrainMs;
}

function identityOf(stat: Stats): string {
  return `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
}

/** Returns whether the fingerprint of a watched path has changed. */
export function hasChanged(watched: readonly Watched[]): boolean {
  for (const [target, before] of watched) if ((fingerprint(target) ?? "") !== before) return true;
  return false;
}

/**
 * Returns the folders that the kernel must watch to detect every change that `hasChanged` detects. Returns undefined if the worker folder
 * contains links.
 */
export function watchableFolders(read: WorkerFolder | undefined): string[] | undefined {
  if (!read) return [];
  if (read.hasLinks) return undefined;
  return read.watched.map(([target]) => target).filter((target) => !metadataFileNames.some((name) => name === path.basename(target)));
}

/**
 * Reads a worker folder, which is itself a package or contains one folder for each version. If nothing has changed, returns `known`.
 * Otherwise reads only the changed versions.
 */
export function readWorkerFolder(directory: string, folder: string, known: WorkerFolder | undefined): WorkerFolder {
  if (known?.directory === directory && !known.hasLinks && !hasChanged(known.watched)) return known;
  const watched: Watched[] = [];
  let hasLinkedMetadata = false;
  const before: ReadonlyMap<string, string> = new Map(known?.watched);
  const read = (versionFolder: string): FoundVersion | undefined => {
    const inspected = inspectVersion(versionFolder);
    hasLinkedMetadata ||= inspected.hasLinks;
    watched.push(...inspected.watched);
    if (inspected.identity === undefined) return undefined;
    const same = inspected.watched.every(([target, print]) => before.get(target) === print);
    const found = same ? known?.versions.find((version) => version.folder === versionFolder) : undefined;
    if (found) return found;
    const version = readWorkerVersion(versionFolder, versionAtPath(directory, folder, versionFolder));
    return version && { ...version, folder: versionFolder, identity: inspected.identity };
  };
  const own = read(folder);
  if (own) return { directory, folder, versions: [own], watched, hasLinks: hasLinkedMetadata };
  const entries = readEntries(folder);
  const versions = foldersOf(entries, folder, directory).flatMap((version) => read(version) ?? []);
  return { directory, folder, versions, watched, hasLinks: hasLinkedMetadata || entries.some((entry) => entry.isSymbolicLink()) };
}

/**
 * Calculates the fingerprints of a version folder. Call it before the read of the metadata. The next check then detects a change that
 * happens during the read.
 */
function inspectVersion(folder: string): { watched: readonly Watched[]; identity: string | undefined; hasLinks: boolean } {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat) return { watched: [[folder, ""]], identity: undefined, hasLinks: false };
  let hasLinks = false;
  const watched: Watched[] = [[folder, fingerprintOf(stat)]];
  const identities = [identityOf(stat)];
  for (const name of metadataFileNames) {
    const file = path.join(folder, name);
    const fileStat = lstatSync(file, { throwIfNoEntry: false });
    if (!fileStat) continue;
    identities.push(identityOf(fileStat));
    hasLinks ||= fileStat.isSymbolicLink();
    watched.push([file, fileStat.isSymbolicLink() ? (fingerprint(file) ?? "") : fingerprintOf(fileStat)]);
  }
  return { watched, identity: identities.length === 1 ? undefined : identities.join(" "), hasLinks };
}

/**
 * Returns the subfolders of a folder, sorted by name. Excludes names that begin with a dot, and links whose target is outside `directory`.
 */
export function listFolders(folder: string, directory: string): string[] {
  return foldersOf(readEntries(folder), folder, directory);
}

/** Returns the folders `name` and `@scope/name` of a package directory. */
export function listPackageFolders(directory: string): string[] {
  return listFolders(directory, directory).flatMap((folder) =>
    path.basename(folder).startsWith("@") ? listFolders(folder, directory) : [folder],
  );
}

function foldersOf(entries: readonly Dirent[], folder: string, directory: string): string[] {
  return entries
    .filter((entry) => !entry.name.startsWith("."))
    .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && leadsInside(path.join(folder, entry.name), directory)))
    .toSorted((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1))
    .map((entry) => path.join(folder, entry.name));
}

function readEntries(folder: string): Dirent[] {
  // Checks first whether the folder exists. With a package store, most folders are missing, and the error of a missing folder takes 10
  // times as long as this check.
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A folder that is missing or not readable has no subfolders.
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
