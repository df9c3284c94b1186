import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { Log } from "../log/log.js";
import { compiledFile, packageVersion } from "../package-root.js";
import type { FoundVersion, WorkerFolder } from "./worker-folders.js";

/** Delay before the cache is written, because further changes often follow the first one. */
const saveDelayMs = 2000;

/**
 * Caches the content of the worker folders in a file. Reading and parsing thousands of workers would otherwise take most of the next start.
 * A file of another build is ignored.
 */
export class CatalogCache {
  readonly #file: string | undefined;
  readonly #log: Log;
  /** Entries of an earlier daemon process, then those of this one. */
  readonly #before: ReadonlyMap<string, WorkerFolder>;
  readonly #current = new Map<string, WorkerFolder>();
  #isSaved = true;
  #timer: NodeJS.Timeout | undefined;

  /** `file`: path of the cache. Undefined disables the cache. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
    this.#before = options.file === undefined ? new Map() : readKept(options.file);
  }

  /** Returns the cached content of a folder. The folder can have changed since. */
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

  /** Writes unsaved changes. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === undefined || this.#isSaved) return;
    this.#isSaved = true;
    const text = JSON.stringify(toKept([...this.#current.values()]));
    await writeFileAtomic(this.#file, `${seal(text)}\n${text}`, { mode: 0o600, fsync: false }).catch((error: unknown) =>
      this.#log.warn({ err: error }, "what is known of the installed workers could not be kept; the next start reads it again"),
    );
  }

  #saveSoon(): void {
    this.#isSaved = false;
    if (this.#file !== undefined) this.#timer ??= setTimeout(() => void this.save(), saveDelayMs).unref();
  }
}

/** File format. Thousands of workers have few different manifests, so each manifest is stored and parsed once. */
interface KeptFolders {
  readonly manifests: readonly WorkerManifest[];
  /** The folders, each with the index of its manifest. */
  readonly folders: readonly KeptFolder[];
}

interface KeptFolder extends Omit<WorkerFolder, "versions"> {
  readonly versions: readonly (Omit<FoundVersion, "manifest"> & { manifest: number | WorkerManifest })[];
}

function toKept(found: readonly WorkerFolder[]): KeptFolders {
  const texts = new Map<string, number>();
  const manifests: WorkerManifest[] = [];
  const placeOf = (manifest: WorkerManifest): number => {
    const text = JSON.stringify(manifest);
    const known = texts.get(text);
    if (known !== undefined) return known;
    texts.set(text, manifests.length);
    return manifests.push(manifest) - 1;
  };
  const folders = found.map((folder) => ({
    ...folder,
    versions: folder.versions.map((version) => ({ ...version, manifest: placeOf(version.manifest) })),
  }));
  return { manifests, folders };
}

/** Converts the entries in place, because copying would take as long as parsing. */
function fromKept({ manifests, folders }: KeptFolders): WorkerFolder[] {
  for (const { versions } of folders) {
    for (const version of versions) version.manifest = manifests[version.manifest as number] as WorkerManifest;
  }
  return folders as WorkerFolder[];
}

/** Returns an empty map when the file is missing, unreadable or from another build. The daemon then reads all folders. */
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

/** Returns a checksum that is different for each build of this program. */
function seal(text: string): string {
  const { mtimeMs, size } = statSync(compiledFile("server/main.js"), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return createHash("sha256").update(`${packageVersion}:${mtimeMs}:${size}\n${text}`).digest("hex");
}
