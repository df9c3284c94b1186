import { lstatSync, readdirSync, realpathSync, statSync, type Dirent, type Stats } from "node:fs";
import path from "node:path";
import { metadataFileNames } from "./package-metadata.js";
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
  if (!stat) return undefined;
  const isSettled = Math.abs(Date.now() - stat.mtimeMs) > timestampGrainMs;
  return isSettled ? identityOf(stat) : `${identityOf(stat)}:${performance.now()}`;
}

function identityOf(stat: Stats): string {
  return `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
}

/** Reads a worker's folder: a package itself, which makes one version, or a folder of versions. */
export function readWorkerFolder(directory: string, folder: string): WorkerFolder {
  const watched = new Map<string, string>();
  const versions: FoundVersion[] = [];
  // Fingerprints first: a change during the reading is then seen by the next look.
  watch(watched, folder);
  const own = readVersion(directory, folder, folder, watched);
  if (own) return { directory, folder, versions: [own], watched };
  for (const version of listFolders(folder, directory)) {
    watch(watched, version);
    const found = readVersion(directory, folder, version, watched);
    if (found) versions.push(found);
  }
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

function readVersion(directory: string, unit: string, folder: string, watched: Map<string, string>): FoundVersion | undefined {
  const files = metadataFileNames.map((name) => path.join(folder, name)).filter((file) => lstatSync(file, { throwIfNoEntry: false }));
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (!stat || files.length === 0) return undefined;
  const identities = files.map((file) => identityOf(lstatSync(file)));
  for (const file of files) watch(watched, file);
  const version = readWorkerVersion(folder, placeOf(directory, unit, folder));
  return version && { ...version, folder, identity: [identityOf(stat), ...identities].join(" ") };
}

function watch(watched: Map<string, string>, target: string): void {
  watched.set(target, fingerprint(target) ?? "");
}
