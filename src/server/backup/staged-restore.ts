import { chmod, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { exists, finish, syncFolder, restorePrefix } from "../packages/transactions/journal.js";
import { syncPaths } from "../packages/archive/sync-paths.js";
import { DirectoryLock } from "../packages/transactions/directory-lock.js";
import { TreeWriter } from "../packages/archive/folder-writer.js";
import { BackupError, type PackageList } from "./backup-format.js";
import { giveTo, makeLikeParent } from "./give-to.js";
import type { UploadDirectory } from "./upload-directories.js";
import type { BackupSink, PackageNumber } from "./read-backup.js";

/** Name of the folder that contains the prepared files of a restore. A daemon that starts deletes the files. */
const stagingFolderName = ".staging";
const dotMode = 0o700;

/** Unpacks the content of a backup into staging folders on the same file systems as the destinations. */
export class StagedRestore implements BackupSink {
  readonly keyStoreFile: string;
  readonly #stateDirectory: string;
  readonly #directories: readonly UploadDirectory[];
  readonly #locks: DirectoryLock[] = [];
  #unlisted: { readonly folder: string; readonly writer: TreeWriter } | undefined;

  constructor(options: { stateDirectory: string; directories: readonly UploadDirectory[] }) {
    this.#stateDirectory = options.stateDirectory;
    this.#directories = options.directories;
    this.keyStoreFile = path.join(options.stateDirectory, "keys.db.restoring");
  }

  /** Creates the directories and staging folders. Deletes the leftovers of an interrupted restore. */
  async open(): Promise<void> {
    for (const { path: directory } of this.#directories) {
      await makeLikeParent(directory);
      await this.#lock(directory);
      const staging = path.join(directory, stagingFolderName);
      for (const name of await readdir(staging).catch(() => []))
        if (name.startsWith(restorePrefix)) await rm(path.join(staging, name), { recursive: true });
      const stage = this.stageOf(directory);
      await mkdir(path.join(stage, "content"), { recursive: true, mode: dotMode });
      // Gives these folders to the daemon's user, because the daemon must be able to complete an interrupted restore.
      await giveTo(directory, [staging, stage, path.join(stage, "content")]);
    }
    await rm(this.keyStoreFile, { force: true });
  }

  /** Locks a package directory. A daemon with this directory then does not start. Throws DAEMON_RUNNING. */
  async #lock(directory: string): Promise<void> {
    const made: string[] = [];
    const lock = DirectoryLock.take(directory, (paths) => made.push(...paths));
    await giveTo(directory, made);
    if (!lock) throw directoryInUse(directory);
    this.#locks.push(lock);
  }

  stageOf(directory: string): string {
    return path.join(directory, stagingFolderName, restorePrefix + process.pid);
  }

  /** Returns the names of the package folders and scope folders that are prepared for a directory. */
  async content(directory: string): Promise<string[]> {
    return readdir(path.join(this.stageOf(directory), "content"));
  }

  async keyStore(content: AsyncIterable<Buffer>): Promise<void> {
    const file = await open(this.keyStoreFile, "wx", 0o600);
    await finish(file, async () => {
      for await (const piece of content) await file.writeFile(piece);
    });
    await giveTo(this.#stateDirectory, [this.keyStoreFile]);
  }

  async file(at: PackageNumber, segments: readonly string[], content: AsyncIterable<Buffer>): Promise<void> {
    const { writer } = await this.#writerOf(at);
    await writer.addFile(segments, 0o644, content);
  }

  async package(at: PackageNumber, list: PackageList): Promise<void> {
    const { folder, writer } = await this.#writerOf(at);
    this.#unlisted = undefined;
    for (const each of list.folders) writer.addFolder(each.split("/"));
    for (const { path: name, mode } of list.files) if (mode !== 0o644) await chmod(path.join(folder, name), mode);
    const { path: directory } = this.#directoryOf(at);
    await giveTo(
      directory,
      [folder, ...list.folders, ...list.files.map(({ path: name }) => name)].map((each) => path.resolve(folder, each)),
    );
    await writer.sync();
    const target = path.join(this.stageOf(directory), "content", list.path);
    if (exists(target)) throw new BackupError("INVALID_BACKUP", `the backup contains ${list.path} twice; nothing was changed`);
    await this.#makeParents(directory, list.path);
    await rename(folder, target);
    await syncFolder(path.dirname(target));
  }

  async discardUnlisted(): Promise<void> {
    if (this.#unlisted) await rm(this.#unlisted.folder, { recursive: true });
    this.#unlisted = undefined;
  }

  /** Unlocks all directories, so that daemons can use the directories. */
  unlock(): void {
    for (const lock of this.#locks.splice(0)) lock.release();
  }

  /** Deletes the prepared files of the restore. */
  async discard(): Promise<void> {
    await rm(this.keyStoreFile, { force: true });
    for (const { path: directory } of this.#directories) {
      await rm(this.stageOf(directory), { recursive: true, force: true });
      await rmdir(path.join(directory, stagingFolderName)).catch(() => undefined);
    }
  }

  async #writerOf(at: PackageNumber): Promise<{ folder: string; writer: TreeWriter }> {
    const folder = path.join(this.stageOf(this.#directoryOf(at).path), String(at.number));
    if (this.#unlisted?.folder === folder) return this.#unlisted;
    await this.discardUnlisted();
    await mkdir(folder, 0o755);
    this.#unlisted = { folder, writer: new TreeWriter(folder) };
    return this.#unlisted;
  }

  /** Creates the parent folders of a package in the staging folder, such as the worker and scope folders. */
  async #makeParents(directory: string, place: string): Promise<void> {
    const content = path.join(this.stageOf(directory), "content");
    for (const parent of place
      .split("/")
      .slice(0, -1)
      .map((_, index, all) => path.join(content, ...all.slice(0, index + 1)))) {
      if (exists(parent)) continue;
      await mkdir(parent, 0o755);
      await giveTo(directory, [parent]);
      await syncPaths(content, [parent, path.dirname(parent)]);
    }
  }

  #directoryOf({ kind, directory: index }: PackageNumber): UploadDirectory {
    const found = this.#directories.find((each) => each.kind === kind && each.index === index);
    if (found) return found;
    throw directoryMissing({ kind, index });
  }
}

function directoryInUse(directory: string): BackupError {
  return new BackupError("DAEMON_RUNNING", `a runtimed with another state directory uses ${directory}; nothing was changed`, {
    hint: "first stop all daemons that use this directory",
  });
}

export function directoryMissing({ kind, index }: Pick<UploadDirectory, "kind" | "index">): BackupError {
  const option = kind === "workers" ? "--worker-dirs" : "--plugin-dirs";
  return new BackupError(
    "DIRECTORY_MISSING",
    `the backup contains ${kind} from ${index + 1} directories, but fewer are configured; nothing was changed`,
    {
      hint: `set the same number of directories with ${option}, separated by ":"`,
    },
  );
}
