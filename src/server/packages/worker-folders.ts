import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
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
  readonly watched: readonly Watched[];
  /** Links in it may lead to more: what they lead to changes without it. */
  readonly hasLinks: boolean;
}

type Watched = readonly [target: string, fingerprint: string];

/**
 * What tells whether a path changed: undefined when it is not there, and never the same twice while it is so young that
 * its time stamp might not move with the next change.
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

/** Whether anything that was watched is not as it was. */
export function hasChanged(watched: readonly Watched[]): boolean {
  for (const [target, before] of watched) if ((fingerprint(target) ?? "") !== before) return true;
  return false;
}

/** The folders of which one changes whenever `hasChanged` finds a change; undefined when links lead to more. */
export function watchableFolders(read: WorkerFolder | undefined): string[] | undefined {
  if (!read) return [];
  if (read.hasLinks) return undefined;
  return read.watched.map(([target]) => target).filter((target) => !metadataFileNames.some((name) => name === path.basename(target)));
}

/**
 * What is in a worker's folder: a package itself, which makes one version, or versions in folders of theirs. What is known of it from
 * before is the answer where nothing has changed since; else only the versions that have are read again.
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

/** Each path is looked at once, and before it is read: a change during the reading is then seen by the next look. */
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

/** Folders in a folder, by name: without dot folders, and without links that lead out of `directory`. */
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
