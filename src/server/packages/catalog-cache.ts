import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { Log } from "../log/log.js";
import { compiledFile, packageVersion } from "../package-root.js";
import type { FoundVersion, WorkerFolder } from "./worker-folders.js";

/** Time in ms between a change and the write of the cache file. The write contains all changes of this time. */
const saveDelayMs = 2000;

/**
 * Stores the versions and manifests of all worker folders in a cache file. Without the file, the daemon would spend most of its start on
 * reading thousands of workers. A cache file of another build of the daemon is not read.
 */
export class CatalogCache {
  readonly #file: string | undefined;
  readonly #log: Log;
  /** Content of the cache file that the previous daemon process has written. */
  readonly #before: ReadonlyMap<string, WorkerFolder>;
  readonly #current = new Map<string, WorkerFolder>();
  #isSaved = true;
  #timer: NodeJS.Timeout | undefined;

  /** `file` is the path of the cache file. If undefined, the cache is only in memory. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
    this.#before = options.file === undefined ? new Map() : readKept(options.file);
  }

  /** Returns the content of a folder that the previous daemon process has stored. The folder on the disk can be different now. */
  recall(folder: string): WorkerFolder | undefined {
    return this.#before.get(folder);
  }

  /** Caches the current content of a folder. */
  note(found: WorkerFolder): void {
    const { folder } = found;
    if ((this.#current.get(folder) ?? this.#before.get(folder)) !== found) this.#saveSoon();
    this.#current.set(folder, found);
  }

  forget(folder: string): void {
    if (this.#current.delete(folder)) this.#saveSoon();
  }

  /** Writes the cache file if entries have changed. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === undefined || this.#isSaved) return;
    this.#isSaved = true;
    const text = JSON.stringify(toKept([...this.#current.values()]));
    await writeFileAtomic(this.#file, `${seal(text)}\n${text}`, { mode: 0o600, fsync: false }).catch((error: unknown) =>
      this.#log.warn({ err: error }, "the cache of the worker folders could not be written, so the next start reads all folders"),
    );
  }

  #saveSoon(): void {
    this.#isSaved = false;
    if (this.#file !== undefined) this.#timer ??= setTimeout(() => void this.save(), saveDelayMs).unref();
  }
}

/** Content of the cache file. Thousands of workers have only a few different manifests, so the file contains each manifest once. */
interface KeptFolders {
  readonly manifests: readonly WorkerManifest[];
  /** Worker folders. Each version has the index of its manifest in `manifests`. */
  readonly folders: readonly KeptFolder[];
}

interface KeptFolder extends Omit<WorkerFolder, "versions"> {
  readonly versions: readonly (Omit<FoundVersion, "manifest"> & { manifest: number | WorkerManifest })[];
}

function toKept(found: readonly WorkerFolder[]): KeptFolders {
  const texts = new Map<string, number>();
  const manifests: WorkerManifest[] = [];
  const indexOf = (manifest: WorkerManifest): number => {
    const text = JSON.stringify(manifest);
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, manifests.length);
    return manifests.push(manifest) - 1;
  };
  const folders = found.map((folder) => ({
    ...folder,
    versions: folder.versions.map((version) => ({ ...version, manifest: indexOf(version.manifest) })),
  }));
  return { manifests, folders };
}

/** Puts the manifests in place of their indexes. Changes the parsed objects, because a copy of them would take as long as parsing. */
function fromKept({ manifests, folders }: KeptFolders): WorkerFolder[] {
  for (const { versions } of folders) {
    for (const version of versions) version.manifest = manifests[version.manifest as number] as WorkerManifest;
  }
  return folders as WorkerFolder[];
}

/**
 * Reads the cache file. Returns an empty map if the file is missing, damaged or from another build. The daemon then reads all worker
 * folders.
 */
function readKept(file: string): Map<string, WorkerFolder> {
  try {
    const content = readFileSync(file, "utf8");
    const end = content.indexOf("\n");
    const text = content.slice(end + 1);
    if (content.slice(0, end) !== seal(text)) return new Map();
    return new Map(fromKept(JSON.parse(text) as KeptFolders).map((folder) => [folder.folder, folder]));
  } catch {
    return new Map();
  }
}

/** Returns a checksum of the cache text and the build. Another build therefore rejects the file. */
function seal(text: string): string {
  const { mtimeMs, size } = statSync(compiledFile("server/main.js"), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return createHash("sha256").update(`${packageVersion}:${mtimeMs}:${size}\n${text}`).digest("hex");
}
