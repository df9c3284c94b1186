import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import writeFileAtomic from "write-file-atomic";
import type { Log } from "../observe/log.js";
import { compiledFile, packageVersion } from "../package-root.js";
import { Recollection, type Recollected } from "./recollection.js";
import type { WorkerVersion } from "./worker-version.js";

/** After a change more are likely to follow. */
const saveDelayMs = 2000;

/** What the file holds. */
interface Kept {
  readonly versions: readonly Recollected<WorkerVersion>[];
  readonly metadataFiles: readonly Recollected<readonly string[]>[];
  readonly folders: readonly Recollected<readonly string[]>[];
}

/**
 * What folders hold and the metadata of versions said, kept in a file for the next start: with thousands of workers, to look for all of it
 * and to parse it takes longer than all the rest. The file is believed only as this very program wrote it.
 */
export class KnownFolders {
  /** What the metadata in a folder said. */
  readonly versions: Recollection<WorkerVersion>;
  /** Names of the metadata files in a folder. */
  readonly metadataFiles: Recollection<readonly string[]>;
  /** Names of the folders in a folder. */
  readonly folders: Recollection<readonly string[]>;
  readonly #file: string | undefined;
  readonly #log: Log;
  #isSaved = true;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file nothing is kept. */
  constructor(options: { file: string | undefined; log: Log }) {
    this.#file = options.file;
    this.#log = options.log;
    const kept = options.file === undefined ? undefined : readKept(options.file);
    const onChange = () => this.#saveSoon();
    this.versions = new Recollection(kept?.versions, onChange);
    this.metadataFiles = new Recollection(kept?.metadataFiles, onChange);
    this.folders = new Recollection(kept?.folders, onChange);
  }

  forget(folder: string): void {
    for (const recollection of [this.versions, this.metadataFiles, this.folders]) recollection.forget(folder);
  }

  /** Writes what is not written yet. */
  async save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === undefined || this.#isSaved) return;
    this.#isSaved = true;
    const kept: Kept = { versions: this.versions.current, metadataFiles: this.metadataFiles.current, folders: this.folders.current };
    const text = JSON.stringify(kept);
    await writeFileAtomic(this.#file, `${seal(text)}\n${text}`, { mode: 0o600, fsync: false }).catch((error: unknown) =>
      this.#log.warn({ err: error }, "what is known of the installed workers could not be kept; the next start reads it again"),
    );
  }

  #saveSoon(): void {
    this.#isSaved = false;
    if (this.#file !== undefined) this.#timer ??= setTimeout(() => void this.save(), saveDelayMs).unref();
  }
}

/** Undefined when it is not there, not readable, or not ours: then all is read from the folders. */
function readKept(file: string): Kept | undefined {
  try {
    const content = readFileSync(file, "utf8");
    const end = content.indexOf("\n");
    const text = content.slice(end + 1);
    return content.slice(0, end) === seal(text) ? (JSON.parse(text) as Kept) : undefined;
  } catch {
    return undefined;
  }
}

/** Differs for every damage, and for every build of this program. */
function seal(text: string): string {
  const { mtimeMs, size } = statSync(compiledFile("server/main.js"), { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: 0 };
  return createHash("sha256").update(`${packageVersion}:${mtimeMs}:${size}\n${text}`).digest("hex");
}
