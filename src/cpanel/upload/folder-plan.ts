import { mainFiles } from "../../shared/packing/main-files.js";
import { neverPackedReason } from "../../shared/packing/never-packed.js";
import { openSelection, type Selection } from "../../shared/packing/selection.js";
import { usualLimits } from "../../shared/archive/usual-limits.js";
import type { Folder } from "./folder.js";
import { readPackageInfo, type PackageInfo, type PackageKind } from "./package-info.js";

export interface FolderPlan {
  readonly facts: PackageInfo;
  /** Paths of the files to pack, sorted and relative to the folder. */
  readonly files: readonly string[];
  /** Excluded files and folders, each with the rule that excludes it. The path of a folder ends with a slash. */
  readonly excluded: readonly { readonly path: string; readonly rule: string }[];
}

/** Selects the files of a folder that belong into the package archive, by the same rules as `runtimectl`. */
export async function planFolder(folder: Folder, kind: PackageKind, signal: AbortSignal): Promise<FolderPlan> {
  const read = async (path: string) => (await folder.open(path))?.text();
  const facts = await readPackageInfo({ read, isFile: async (path) => (await folder.open(path)) !== undefined }, kind);
  const walk = new Walk({ folder, facts, selection: await openSelection(read, facts), signal });
  return walk.plan();
}

interface WalkOptions {
  readonly folder: Folder;
  readonly facts: PackageInfo;
  readonly selection: Selection;
  readonly signal: AbortSignal;
}

class Walk {
  readonly #folder: Folder;
  readonly #facts: PackageInfo;
  readonly #selection: Selection;
  readonly #signal: AbortSignal;
  readonly #always: ReadonlySet<string>;
  readonly #ownArchives: string;
  readonly #files: string[] = [];
  readonly #excluded: { path: string; rule: string }[] = [];

  constructor({ folder, facts, selection, signal }: WalkOptions) {
    this.#folder = folder;
    this.#facts = facts;
    this.#selection = selection;
    this.#signal = signal;
    this.#always = new Set([...facts.metadataFiles, ...mainFiles(facts)]);
    this.#ownArchives = `${facts.name.replace("@", "").replace("/", "-")}-`;
  }

  async plan(): Promise<FolderPlan> {
    await this.#visit("");
    return { facts: this.#facts, files: this.#files.toSorted(), excluded: this.#excluded };
  }

  async #visit(directory: string): Promise<void> {
    this.#signal.throwIfAborted();
    const parentName = directory.slice(directory.lastIndexOf("/") + 1);
    for (const { name, isFolder } of await this.#folder.list(directory)) {
      const path = directory === "" ? name : `${directory}/${name}`;
      const reason = neverPackedReason(name, parentName) ?? this.#ownArchiveReason(path);
      if (reason !== undefined) this.#excluded.push({ path: isFolder ? `${path}/` : path, rule: reason });
      else if (isFolder) await this.#enter(path);
      else this.#take(path);
    }
  }

  async #enter(path: string): Promise<void> {
    const { kept, rule } = await this.#selection.enter(path);
    const holdsEntrypoint = mainFiles(this.#facts).some((file) => file.startsWith(`${path}/`));
    if (kept || holdsEntrypoint) return this.#visit(path);
    this.#excluded.push({ path: `${path}/`, rule });
  }

  #take(path: string): void {
    const { kept, rule } = this.#always.has(path) ? { kept: true, rule: "always included" } : this.#selection.judge(path);
    if (!kept) return void this.#excluded.push({ path, rule });
    this.#files.push(path);
    if (this.#files.length > usualLimits.archiveEntries)
      throw new Error(
        `The folder has more than ${usualLimits.archiveEntries.toLocaleString("en-GB")} files. Exclude files with a .runtimeignore file.`,
      );
  }

  /**
   * Returns the reason to exclude a file that is an archive of this package itself; undefined for other files. Without this rule, each new
   * archive would contain the previous archive.
   */
  #ownArchiveReason(path: string): string | undefined {
    const isOwn = path.endsWith(".tgz") && !path.includes("/") && path.startsWith(this.#ownArchives);
    return isOwn ? "always excluded: an archive of this package" : undefined;
  }
}
