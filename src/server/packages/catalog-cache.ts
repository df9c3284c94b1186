import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { Log } from "../log/log.js";
import { compiledFile, packageVersion } from "../package-root.js";
import type { FoundVersion, WorkerFolder } from "./worker-folders.js";

/** After a change more are likely to follow. */
const saveDelayMs = 2000;

/**
 * What the folders of workers held, kept in a file for the next start: with thousands of workers, to look for it all and to parse it takes
 * longer than all the rest. The file is believed only as this very program wrote it.
 */
export class CatalogCache {
  readonly #file: string | undefined;
  readonly #log: Log;
  /** From an earlier daemon, and what this one has seen. */
  readonly #before: ReadonlyMap<string, WorkerFolder>;
  readonly #current = new Map<string, WorkerFolder>();
  #isSaved = true;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file nothing is kept. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
    this.#before = options.file === undefined ? new Map() : readKept(options.file);
  }

  /** What an earlier daemon saw in a folder, which may have changed since. */
  recall(folder: string): WorkerFolder | undefined {
    return this.#before.get(folder);
  }

  /** What is in a folder now. */
  note(found: WorkerFolder): void {
    const { folder } = found;
    if ((this.#current.get(folder) ?? this.#before.get(folder)) !== found) this.#saveSoon();
    this.#current.set(folder, found);
  }

  forget(folder: string): void {
    if (this.#current.delete(folder)) this.#saveSoon();
  }

  /** Writes what is not written yet. */
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

/** In the file: thousands of workers have few different manifests, and what is there once is parsed once. */
interface KeptFolders {
  readonly manifests: readonly WorkerManifest[];
  /** In the place of each version's manifest: its place among these. */
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

/** In place: to copy what was just parsed would take as long as to parse it. */
function fromKept({ manifests, folders }: KeptFolders): WorkerFolder[] {
  for (const { versions } of folders) {
    for (const version of versions) version.manifest = manifests[version.manifest as number] as WorkerManifest;
  }
  return folders as WorkerFolder[];
}

/** Empty when it is not there, not readable, or not ours: then all is read from the folders. */
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

/** Differs for every damage, and for every build of this program. */
function seal(text: string): string {
  const { mtimeMs, size } = statSync(compiledFile("server/main.js"), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return createHash("sha256").update(`${packageVersion}:${mtimeMs}:${size}\n${text}`).digest("hex");
}
