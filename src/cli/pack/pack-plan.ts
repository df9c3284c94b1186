import { lstatSync, readdirSync, type Dirent } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { neverPackedPathReason, neverPackedReason } from "../../shared/packing/never-packed.js";
import { mainFiles } from "../../shared/packing/main-files.js";
import {
  folderSource,
  readPackageInfo,
  type PackageInfo,
  type PackageIdentity,
  type PackageKind,
  type PackageSource,
} from "./package-info.js";
import type { ModuleImports } from "./module-imports.js";
import { archiveStem } from "./write-archive.js";
import { openSelection, type Selection, type Verdict } from "../../shared/packing/selection.js";

/**
 * Maximum number of files in a package, 4 times the daemon's default limit. The limit ends the scan of a folder with far too many files.
 */
const maximumFiles = 200_000;

export interface PackedFile {
  /** Path of the file in the package, relative to the package folder, with forward slashes. */
  readonly path: string;
  /** Absolute path of the file to read, with links resolved. */
  readonly source: string;
  readonly sizeBytes: number;
  readonly rule: string;
  /** Whether the file has the executable bit. Set only if the file comes from an existing archive. */
  readonly executable?: boolean;
  /** Text that the content digest uses in place of the file's content. If the text is empty, the content digest omits the file. */
  readonly digestedAs?: string;
}

export interface LeftOut {
  /** Path of the excluded file or folder. The path of a folder ends in a slash and stands for all of its content. */
  readonly path: string;
  readonly rule: string;
}

/** The packed and the excluded entries of a package folder, sorted by path. Each entry has the rule that decided about it. */
export interface PackPlan {
  readonly facts: PackageInfo;
  readonly files: readonly PackedFile[];
  readonly leftOut: readonly LeftOut[];
  /** The symbolic links in `leftOut`. Commands print a warning for each link. */
  readonly links: readonly LeftOut[];
  /** The imports of the worker's modules. Undefined for sites, plugins, archives and bundles. */
  readonly imports?: ModuleImports;
}

export interface PackOptions {
  readonly kind?: PackageKind | undefined;
  readonly identity?: PackageIdentity;
  /** Whether to exclude every node_modules and the packages of Yarn Plug'n'Play, even if a packing rule includes them. */
  readonly withoutPackages?: boolean;
  /** Package source that provides name, version and entrypoint in place of the folder. Used if the manifest is generated. */
  readonly source?: PackageSource;
  /** The only folders to pack, in addition to package.json and the manifest. */
  readonly only?: readonly string[] | undefined;
  /** Generated files that are packed in addition to files of the folder. */
  readonly added?: readonly PackedFile[];
}

/** Decides for each entry of a folder whether it is packed. Throws UNPACKABLE if an archive cannot contain an entry that must be packed. */
export async function planPack(
  folder: string,
  { kind = "worker", identity = {}, withoutPackages = false, source = folderSource(folder), only, added = [] }: PackOptions = {},
): Promise<PackPlan> {
  const facts = await readPackageInfo(source, kind, identity);
  const rules = await openSelection(source.read, facts);
  const selection = only ? limitedTo(only, rules) : rules;
  const walk = new Walk(await realpath(folder), facts, withoutPackages ? noPackages(selection) : selection);
  return withFiles(await walk.plan(), added);
}

/** Returns the plan with additional files. An additional file replaces a file with the same path. */
export function withFiles(plan: PackPlan, added: readonly PackedFile[]): PackPlan {
  const names = new Set(added.map((file) => file.path));
  return { ...plan, files: [...plan.files.filter((file) => !names.has(file.path)), ...added].toSorted(byPath) };
}

/** Returns packing rules that exclude everything outside of the folders, and apply `selection` to the rest. */
function limitedTo(folders: readonly string[], selection: Selection): Selection {
  const isInside = (entry: string) => folders.some((folder) => entry === folder || entry.startsWith(`${folder}/`));
  const isAbove = (directory: string) => folders.some((folder) => folder.startsWith(`${directory}/`));
  const outside: Verdict = { kept: false, rule: `outside of the output (${folders.join(", ")})` };
  return {
    enter: async (directory) => (isInside(directory) || isAbove(directory) ? selection.enter(directory) : outside),
    judge: (file) => (isInside(file) ? selection.judge(file) : outside),
  };
}

function noPackages(selection: Selection): Selection {
  const rule = "dependencies are in the bundle";
  return {
    enter: async (directory) => {
      if (path.posix.basename(directory) === "node_modules") return { kept: false, rule: `node_modules: ${rule}` };
      return directory === ".yarn" ? { kept: false, rule } : selection.enter(directory);
    },
    judge: (file) => (/^\.pnp\.[\w.]+$/.test(file) ? { kept: false, rule } : selection.judge(file)),
  };
}

class Walk {
  readonly #root: string;
  readonly #facts: PackageInfo;
  readonly #selection: Selection;
  readonly #always: ReadonlySet<string>;
  readonly #ownArchives: string;
  readonly #files: PackedFile[] = [];
  readonly #leftOut: LeftOut[] = [];
  readonly #links: LeftOut[] = [];
  readonly #refused: string[] = [];

  constructor(root: string, facts: PackageInfo, selection: Selection) {
    this.#root = root;
    this.#facts = facts;
    this.#selection = selection;
    this.#ownArchives = `${archiveStem(facts.name)}-`;
    this.#always = new Set([...facts.metadataFiles, ...mainFiles(facts)]);
  }

  async plan(): Promise<PackPlan> {
    await this.#visitFolder("", this.#root, [this.#root]);
    if (this.#refused.length > 0)
      throw new CommandError("UNPACKABLE", "the folder contains entries that cannot be packed; nothing was uploaded", {
        exitCode: exitCodes.failed,
        details: this.#refused,
        hint: "delete these entries, or add them to .runtimeignore",
      });
    return {
      facts: this.#facts,
      files: this.#files.toSorted(byPath),
      leftOut: this.#leftOut.toSorted(byPath),
      links: this.#links.toSorted(byPath),
    };
  }

  /**
   * Visits all entries of a folder. `chain` contains the real paths of the parent folders, so that the method can detect a circle of links.
   */
  async #visitFolder(directory: string, source: string, chain: readonly string[]): Promise<void> {
    // Reads the folder synchronously, because for thousands of small files, waiting for each promise takes longer than the call.
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      const relativePath = directory === "" ? entry.name : `${directory}/${entry.name}`;
      const reason = neverPackedReason(entry.name, path.posix.basename(directory)) ?? this.#ownArchiveReason(relativePath);
      if (reason !== undefined) this.#leaveOut(entry.isDirectory() ? `${relativePath}/` : relativePath, reason);
      else {
        const visited = { relativePath, source: `${source}${path.sep}${entry.name}`, chain };
        if (entry.isFile()) this.#take(visited, lstatSync(visited.source).size);
        else await this.#visit(entry, visited);
      }
    }
  }

  /**
   * Returns the reason to exclude a file that is an earlier archive of this package; undefined for other files. Without this rule, each
   * archive would contain the previous archive.
   */
  #ownArchiveReason(relativePath: string): string | undefined {
    const isOwn = relativePath.endsWith(".tgz") && !relativePath.includes("/") && relativePath.startsWith(this.#ownArchives);
    return isOwn ? "always excluded: an archive of this package" : undefined;
  }

  async #visit(entry: Dirent, visited: VisitedEntry): Promise<void> {
    if (entry.isSymbolicLink()) return this.#visitLink(visited);
    if (entry.isDirectory()) return this.#enter(visited);
    const verdict = this.#selection.judge(visited.relativePath);
    if (verdict.kept) this.#refused.push(`${visited.relativePath}: ${kindOf(entry)}`);
    else this.#leaveOut(visited.relativePath, verdict.rule);
  }

  async #enter({ relativePath, source, chain }: VisitedEntry): Promise<void> {
    const verdict = await this.#selection.enter(relativePath);
    const holdsEntrypoint = mainFiles(this.#facts).some((file) => file.startsWith(`${relativePath}/`));
    if (!verdict.kept && !holdsEntrypoint) return this.#leaveOut(`${relativePath}/`, verdict.rule);
    await this.#visitFolder(relativePath, source, [...chain, source]);
  }

  #take({ relativePath, source }: VisitedEntry, sizeBytes: number, linkRule?: string): void {
    const verdict = this.#always.has(relativePath) ? { kept: true, rule: "always included" } : this.#selection.judge(relativePath);
    if (!verdict.kept) return this.#leaveOut(relativePath, verdict.rule);
    // Rejects backslashes, which separate folders on Windows, and the character U+FFFD, which stands for bytes that are not valid UTF-8.
    if (/[\p{Cc}\\\uFFFD]/u.test(relativePath)) return void this.#refused.push(`${relativePath}: a name that cannot be packed`);
    this.#files.push({ path: relativePath, source, sizeBytes, rule: linkRule ?? verdict.rule });
    if (this.#files.length > maximumFiles)
      throw new CommandError("TOO_MANY_FILES", `the folder has more than ${maximumFiles} files`, {
        exitCode: exitCodes.failed,
        hint: "exclude files with .runtimeignore",
      });
  }

  /**
   * Packs the target of a symbolic link in place of the link. Excludes the link if the target is outside of the folder or cannot be packed.
   */
  async #visitLink(visited: VisitedEntry): Promise<void> {
    const target = await realpath(visited.source).catch((error: NodeJS.ErrnoException) => error);
    if (target instanceof Error) return this.#leaveLink(visited, target.code === "ELOOP" ? "a link that loops" : "a link without a target");
    if (!target.startsWith(`${this.#root}${path.sep}`)) return this.#leaveLink(visited, "a link to a target outside of the folder");
    const reason = neverPackedPathReason(path.relative(this.#root, target).split(path.sep).join("/"));
    if (reason !== undefined) return this.#leaveLink(visited, `a link to a target that is ${reason}`);
    const stats = await stat(target);
    const resolved = { ...visited, source: target };
    if (stats.isFile()) return this.#take(resolved, stats.size, "a link within the folder");
    if (!stats.isDirectory()) return this.#leaveLink(visited, "a link to something that is neither file nor folder");
    if (visited.chain.some((ancestor) => ancestor === target || target === this.#root))
      return this.#leaveLink(visited, "a link that loops");
    return this.#enter(resolved);
  }

  #leaveLink({ relativePath }: VisitedEntry, rule: string): void {
    const verdict = this.#selection.judge(relativePath);
    if (!verdict.kept) return this.#leaveOut(relativePath, verdict.rule);
    this.#leaveOut(relativePath, rule);
    this.#links.push({ path: relativePath, rule });
  }

  #leaveOut(relativePath: string, rule: string): void {
    this.#leftOut.push({ path: relativePath, rule });
  }
}

/** The file system entry that is visited now. */
interface VisitedEntry {
  readonly relativePath: string;
  readonly source: string;
  readonly chain: readonly string[];
}

function byPath(left: { path: string }, right: { path: string }): number {
  return left.path < right.path ? -1 : 1;
}

function kindOf(entry: Dirent): string {
  if (entry.isFIFO()) return "a FIFO";
  if (entry.isSocket()) return "a socket";
  return "a device";
}
