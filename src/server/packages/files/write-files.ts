import { renameSync, rmdirSync } from "node:fs";
import { copyFile, open, writeFile } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import { shown } from "../../../shared/archive/refusal.js";
import type { UploadedFile } from "../../platform/uploaded-file.js";
import { finish, syncFolder } from "../transactions/journal.js";
import { asFileFailure, notFound, notWritable, taken } from "./file-transaction.js";
import { assertEtag } from "./file-etag.js";
import { checkNewName, type FileCaller, type ResolvedPath, type FilePaths, type WritablePath } from "./file-paths.js";
import type { FileChange, PackageOwner } from "./mounts.js";
import { inDirectoryHandle, DirectoryHandle } from "./directory-handle.js";
import { checkMetadata, checkSettings, type PackageFolder } from "./package-folder.js";

const fileMode = 0o644;

/** Changes files in package folders. Each public method is one operation of the file API. */
export class FileWriter {
  readonly #paths: FilePaths;
  readonly #owner: PackageOwner;

  constructor(options: { paths: FilePaths; owner: PackageOwner }) {
    this.#paths = options.paths;
    this.#owner = options.owner;
  }

  /** Creates a folder and its missing parents. */
  async makeFolder(text: string, caller: FileCaller): Promise<void> {
    const resolved = this.#paths.writable(text, caller);
    for (const name of resolved.inPackage) checkNewName(name);
    await this.#change(text, [resolved.packageFolder], {
      check: () => {
        if (kindAt(resolved) !== "nothing") throw taken(text);
      },
      hasSteps: true,
      apply: (_aside, rootOf) => DirectoryHandle.open(rootOf(resolved.mount.path), resolved.below, { isMade: true }).close(),
      settle: (rootOf) => syncWay(rootOf(resolved.mount.path), resolved.below),
    });
  }

  /**
   * Writes uploaded files below a folder and replaces existing files. If the caller sends `etags`, the ETag of each existing file must
   * match. Checks all files before the first write.
   */
  async write(
    folder: string,
    files: readonly UploadedFile[],
    { names, etags, caller }: { names: readonly string[] | undefined; etags: readonly string[] | undefined; caller: FileCaller },
  ) {
    assertOneEach(files, names, "path");
    assertOneEach(files, etags, "ETag");
    const targets = files.map(({ path: source, filename }, index) => {
      const text = `${folder.replace(/\/$/, "")}/${names?.[index] ?? filename}`;
      const resolved = this.#paths.inPackage(text, caller);
      for (const name of resolved.inPackage) checkNewName(name);
      return { source, text, resolved, aside: String(index) };
    });
    refuseOverlap(targets.map(({ resolved }) => resolved.path));
    const packageFolders = [...new Map(targets.map(({ resolved }) => [resolved.packageFolder.folder, resolved.packageFolder])).values()];
    const refuseFolders = () => {
      for (const { resolved, text } of targets) if (kindAt(resolved) === "folder") throw taken(text);
    };
    const rootChanges = (aside: string) =>
      packageFolders.map((packageFolder) => {
        const atRoot = targets.filter(
          ({ resolved }) => resolved.packageFolder.folder === packageFolder.folder && resolved.inPackage.length === 1,
        );
        const added = new Map(
          atRoot.map(
            ({ resolved, aside: name }) => [resolved.name, (read: (file: string) => void) => read(path.join(aside, name))] as const,
          ),
        );
        return { packageFolder, added };
      });
    await this.#change(folder, packageFolders, {
      prepare: async (aside) => {
        refuseFolders();
        for (const target of targets) await copyDurably(target.source, path.join(aside, target.aside));
        for (const change of rootChanges(aside)) await checkSettings(this.#owner, caller, change);
      },
      check: (aside) => {
        refuseFolders();
        for (const change of rootChanges(aside)) checkMetadata(this.#owner, caller, change);
        // Compares the ETags last. From here on, the lock prevents changes by other operations.
        for (const [index, { resolved }] of targets.entries()) if (etags) assertEtag(resolved, etags[index] as string);
      },
      hasSteps: true,
      apply: (aside, rootOf) => {
        for (const { resolved, aside: name } of targets) {
          const parent = DirectoryHandle.open(rootOf(resolved.mount.path), resolved.below.slice(0, -1), { isMade: true });
          inDirectoryHandle(parent, () => renameSync(path.join(aside, name), parent.pathOf(resolved.name)));
        }
      },
      settle: async (rootOf) => {
        for (const { resolved } of targets) await syncWay(rootOf(resolved.mount.path), resolved.below.slice(0, -1));
      },
    });
  }

  /** Returns whether callers can change files in a package folder. The folder is an absolute path. */
  isWritable(folder: string): boolean {
    return this.#paths.packagePathAt(folder) !== undefined;
  }

  /**
   * Writes a metadata file of a package folder, with the same checks as `write`. The folder is an absolute path. Calls `check` last, while
   * the daemon holds the lock of the directory. `check` throws to reject the change.
   */
  async saveText(
    folder: string,
    { fileName, text }: { fileName: string; text: string },
    { caller, check }: { caller: FileCaller; check: () => void },
  ): Promise<void> {
    const packagePath = this.#paths.packagePathAt(folder);
    if (packagePath === undefined)
      throw notWritable(path.basename(folder), "files can be changed only in the folder of an uploaded package");
    const filePath = `${packagePath}/${fileName}`;
    const resolved = this.#paths.inPackage(filePath, caller);
    const rootChange = (aside: string) => ({
      packageFolder: resolved.packageFolder,
      added: new Map([[fileName, (read: (file: string) => void) => read(path.join(aside, fileName))]]),
    });
    await this.#change(filePath, [resolved.packageFolder], {
      prepare: async (aside) => {
        const file = path.join(aside, fileName);
        await writeFile(file, text, { mode: fileMode });
        await makeDurable(file);
        await checkSettings(this.#owner, caller, rootChange(aside));
      },
      check: (aside) => {
        checkMetadata(this.#owner, caller, rootChange(aside));
        check();
      },
      apply: (aside, rootOf) => {
        const parent = DirectoryHandle.open(rootOf(resolved.mount.path), resolved.below.slice(0, -1), { isMade: true });
        inDirectoryHandle(parent, () => renameSync(path.join(aside, fileName), parent.pathOf(fileName)));
      },
      settle: (rootOf) => syncWay(rootOf(resolved.mount.path), resolved.below.slice(0, -1)),
    });
  }

  /** Renames a file or folder within its parent folder. */
  async rename(text: string, newName: string, caller: FileCaller): Promise<void> {
    const from = this.#paths.inPackage(text, caller);
    checkNewName(newName);
    await this.#relocate(from, this.#paths.inPackage([from.mount.name, ...from.below.slice(0, -1), newName].join("/"), caller), caller);
  }

  /** Moves an entry into an existing folder, or to a path that does not exist. */
  async move(text: string, destination: string, caller: FileCaller): Promise<void> {
    const from = this.#paths.inPackage(text, caller);
    await this.#paths.prepare(destination, caller);
    const into = this.#paths.writable(destination, caller);
    if (kindAt(into) === "folder") return this.#relocate(from, this.#paths.inPackage(`${into.path}/${from.name}`, caller), caller);
    const to = this.#paths.inPackage(destination, caller);
    checkNewName(to.name);
    await this.#relocate(from, to, caller);
  }

  /** Moves an entry into an existing folder. */
  async moveInto(text: string, folder: string, caller: FileCaller): Promise<void> {
    const from = this.#paths.inPackage(text, caller);
    await this.#paths.prepare(folder, caller);
    const into = this.#paths.writable(folder, caller);
    if (kindAt(into) !== "folder") throw notFound(folder);
    await this.#relocate(from, this.#paths.inPackage(`${into.path}/${from.name}`, caller), caller);
  }

  /**
   * Deletes a file, a folder with its content, or a link. After the deletion of a package folder, also deletes the empty parent folders of
   * the package folder.
   */
  async remove(text: string, caller: FileCaller): Promise<void> {
    const resolved = this.#paths.writable(text, caller);
    const { packageFolder, below, inPackage } = resolved;
    const above = below.slice(0, -1);
    const name = below.at(-1) as string;
    let kept = above;
    await this.#change(text, [packageFolder], {
      check: () => {
        if (inPackage.length === 1) checkMetadata(this.#owner, caller, { packageFolder, removed: [name] });
      },
      apply: (aside, rootOf) => {
        const movedTo = path.join(aside, "taken");
        inDirectoryHandle(DirectoryHandle.open(rootOf(packageFolder.directory), above), (parent) =>
          renameSync(parent.pathOf(name), movedTo),
        );
        if (inPackage.length > 0) return undefined;
        kept = removeEmptyFolders(rootOf(packageFolder.directory), above);
        return movedTo;
      },
      settle: (rootOf) => syncWay(rootOf(packageFolder.directory), kept),
    });
  }

  async #relocate(from: WritablePath & { name: string }, to: WritablePath & { name: string }, caller: FileCaller): Promise<void> {
    if (to.path.startsWith(`${from.path}/`)) {
      throw new ApiError("INVALID_REQUEST", `The folder ${shown(from.path)} cannot be moved into itself. Choose another target folder.`);
    }
    const fromParent = from.below.slice(0, -1);
    const toParent = to.below.slice(0, -1);
    const readMoved = (read: (file: string) => void) =>
      inDirectoryHandle(DirectoryHandle.open(from.mount.path, fromParent), (folder) => read(folder.pathOf(from.name)));
    await this.#change(from.path, [to.packageFolder, from.packageFolder], {
      check: () => {
        if (kindAt(to) !== "nothing") throw taken(to.path);
        const removed = from.inPackage.length === 1 ? [from.name] : [];
        const added = to.inPackage.length === 1 ? new Map([[to.name, readMoved]]) : undefined;
        const isWithin = to.packageFolder.folder === from.packageFolder.folder;
        checkMetadata(this.#owner, caller, { packageFolder: to.packageFolder, ...(isWithin && { removed }), ...(added && { added }) });
        if (!isWithin) checkMetadata(this.#owner, caller, { packageFolder: from.packageFolder, removed });
      },
      apply: (_aside, rootOf) => {
        inDirectoryHandle(DirectoryHandle.open(rootOf(from.mount.path), fromParent), (source) => {
          if (!source.stat(from.name)) throw notFound(from.path);
          inDirectoryHandle(
            openFor(to.path, () => DirectoryHandle.open(rootOf(to.mount.path), toParent)),
            (target) => {
              if (target.stat(to.name)) throw taken(to.path);
              renameSync(source.pathOf(from.name), target.pathOf(to.name));
            },
          );
        });
      },
      settle: async (rootOf) => {
        await syncWay(rootOf(to.mount.path), toParent);
        await syncWay(rootOf(from.mount.path), fromParent);
      },
    });
  }

  async #change(
    text: string,
    packageFolders: readonly PackageFolder[],
    change: Omit<FileChange, "apply"> & { apply: (...args: Parameters<FileChange["apply"]>) => string | undefined | void },
  ): Promise<void> {
    try {
      await this.#owner.changeFiles(packageFolders, { ...change, apply: (...args) => change.apply(...args) ?? undefined });
    } catch (error) {
      throw asFileFailure(error, text);
    }
  }
}

/** Returns whether a path is a folder, an entry of another kind, or missing. Does not follow links. */
function kindAt({ mount, below, path: text }: ResolvedPath): "nothing" | "folder" | "other" {
  try {
    return inDirectoryHandle(DirectoryHandle.open(mount.path, below.slice(0, -1)), (parent) => {
      const stat = parent.stat(below.at(-1) as string);
      if (!stat) return "nothing";
      return stat.isDirectory() ? "folder" : "other";
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "nothing";
    throw asFileFailure(error, text);
  }
}

function openFor(text: string, pin: () => DirectoryHandle): DirectoryHandle {
  try {
    return pin();
  } catch (error) {
    throw asFileFailure(error, text);
  }
}

function assertOneEach(files: readonly unknown[], given: readonly string[] | undefined, what: string): void {
  if (!given || given.length === files.length) return;
  throw new ApiError("INVALID_REQUEST", `The body has ${files.length} files and ${given.length} ${what}s. Send one ${what} for each file.`);
}

/** Throws if the caller sends the same path twice, or sends a path that is also the folder of another path. */
function refuseOverlap(paths: readonly string[]): void {
  const files = new Set<string>();
  for (const text of paths) {
    if (files.has(text)) throw new ApiError("INVALID_REQUEST", `The path ${shown(text)} is sent twice. Send each file once.`);
    files.add(text);
  }
  for (const text of paths) {
    for (let slash = text.indexOf("/"); slash !== -1; slash = text.indexOf("/", slash + 1)) {
      const folder = text.slice(0, slash);
      if (files.has(folder))
        throw new ApiError(
          "INVALID_REQUEST",
          `The path ${shown(folder)} is sent as a file and as a folder. Rename the file or the folder.`,
        );
    }
  }
}

async function copyDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target);
  await makeDurable(target);
}

async function makeDurable(target: string): Promise<void> {
  const file = await open(target, "r+");
  await finish(file, () => file.chmod(fileMode));
}

/** Syncs a folder and its parent folders up to `directory`, so that their entries survive a power failure. */
async function syncWay(directory: string, segments: readonly string[]): Promise<void> {
  for (let depth = segments.length; depth >= 0; depth -= 1) {
    const folder = DirectoryHandle.open(directory, segments.slice(0, depth));
    try {
      await syncFolder(folder.path);
    } finally {
      folder.close();
    }
  }
}

/** Deletes empty folders, the innermost first. Returns the path segments of the first folder that is not empty. */
function removeEmptyFolders(directory: string, segments: readonly string[]): string[] {
  const kept = [...segments];
  while (kept.length > 0) {
    const name = kept.at(-1) as string;
    const isGone = inDirectoryHandle(DirectoryHandle.open(directory, kept.slice(0, -1)), (parent) => removeIfEmpty(parent.pathOf(name)));
    if (!isGone) break;
    kept.pop();
  }
  return kept;
}

function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTEMPTY" || (error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
