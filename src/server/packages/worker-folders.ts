import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
import { placeOf, readWorkerVersion, type WorkerVersion } from "./worker-version.js";

/** Granularity of time stamps: two changes within this time can have the same one. */
const timestampGrainMs = 100;

/** A version found in a folder. */
export interface FoundVersion extends WorkerVersion {
  readonly folder: string;
  /** Fingerprint of the status of the folder and its metadata files: a different value means that one of them changed. */
  readonly identity: string;
}

/** The folder `<directory>/<name>` or `<directory>/@scope/<name>` with its versions. */
export interface WorkerFolder {
  readonly directory: string;
  readonly folder: string;
  readonly versions: readonly FoundVersion[];
  /** All paths that affect this result, with their fingerprints. */
  readonly watched: readonly Watched[];
  /** True with links, whose targets can change unnoticed. */
  readonly hasLinks: boolean;
}

type Watched = readonly [target: string, fingerprint: string];

/**
 * Returns a value that changes with the path; undefined when it is missing. Differs at each call while the time stamp is too young to
 * detect the next change.
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

/** Whether a watched path has changed. */
export function hasChanged(watched: readonly Watched[]): boolean {
  for (const [target, before] of watched) if ((fingerprint(target) ?? "") !== before) return true;
  return false;
}

/** Returns folders of which one changes whenever `hasChanged` would return true; undefined with links. */
export function watchableFolders(read: WorkerFolder | undefined): string[] | undefined {
  if (!read) return [];
  if (read.hasLinks) return undefined;
  return read.watched.map(([target]) => target).filter((target) => !metadataFileNames.some((name) => name === path.basename(target)));
}

/**
 * Reads a worker's folder, which is a package itself or contains one folder per version. Returns `known` if nothing changed; otherwise
 * reads only changed versions.
 */
export function readWorkerFolder(directory: string, folder: string, known: WorkerFolder | undefined): WorkerFolder {
  if (known?.directory === directory && !known.hasLinks && !hasChanged(known.watched)) return known;
  const watched: Watched[] = [];
  let hasLinkedMetadata = false;
  const before: ReadonlyMap<string, string> = new Map(known?.watched);
  const read = (versionFolder: string): FoundVersion | undefined => {
    const place = lookAtVersion(versionFolder);
    hasLinkedMetadata ||= place.hasLinks;
    watched.push(...place.watched);
    if (place.identity === undefined) return undefined;
    const same = place.watched.every(([target, print]) => before.get(target) === print);
    const found = same ? known?.versions.find((version) => version.folder === versionFolder) : undefined;
    if (found) return found;
    const version = readWorkerVersion(versionFolder, placeOf(directory, folder, versionFolder));
    return version && { ...version, folder: versionFolder, identity: place.identity };
  };
  const own = read(folder);
  if (own) return { directory, folder, versions: [own], watched, hasLinks: hasLinkedMetadata };
  const entries = readEntries(folder);
  const versions = foldersOf(entries, folder, directory).flatMap((version) => read(version) ?? []);
  return { directory, folder, versions, watched, hasLinks: hasLinkedMetadata || entries.some((entry) => entry.isSymbolicLink()) };
}

/** Takes the fingerprints before reading, so that the next check finds a change during the reading. */
function lookAtVersion(folder: string): { watched: readonly Watched[]; identity: string | undefined; hasLinks: boolean } {
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

/** Returns the folders in a folder by name, without dot folders and without links that lead out of `directory`. */
export function listFolders(folder: string, directory: string): string[] {
  return foldersOf(readEntries(folder), folder, directory);
}

function foldersOf(entries: readonly Dirent[], folder: string, directory: string): string[] {
  return entries
    .filter((entry) => !entry.name.startsWith("."))
    .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && leadsInside(path.join(folder, entry.name), directory)))
    .toSorted((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1))
    .map((entry) => path.join(folder, entry.name));
}

function readEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Missing or not readable.
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
