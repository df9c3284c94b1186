import type { Download } from "../../platform/download.js";
import { FilePaths, type FileCaller } from "./file-paths.js";
import { createMounts, type PackageOwner } from "./mounts.js";
import { downloadFile, downloadFiles, listFiles, type FolderListing } from "./read-files.js";
import { pluginLayout, workerLayout } from "./package-folder.js";
import { FileWriter } from "./write-files.js";

const layouts = { workers: workerLayout, plugins: pluginLayout };

/** Lists, downloads and changes files in the configured directories of one package kind (workers or plugins). */
export class PackageFiles {
  readonly #paths: FilePaths;
  /** Performs all operations that change files. */
  readonly writer: FileWriter;

  constructor(options: {
    kind: keyof typeof layouts;
    /** Directory of the built-in packages, which the file API does not show. */
    builtInDirectory: string | undefined;
    directories: readonly string[];
    owner: PackageOwner;
  }) {
    const { owner } = options;
    this.#paths = new FilePaths({ mounts: createMounts(options), layout: layouts[options.kind], owner });
    this.writer = new FileWriter({ paths: this.#paths, owner });
  }

  /** Returns whether the package in a folder is built in. The folder is an absolute path. */
  isBuiltIn(folder: string): boolean {
    return (this.#paths.mountOf(folder)?.source ?? "built-in") === "built-in";
  }

  async list(path: string, caller: FileCaller): Promise<FolderListing> {
    await this.#paths.prepare(path, caller);
    return listFiles(this.#paths, path, caller);
  }

  async download(path: string, caller: FileCaller): Promise<Download> {
    await this.#paths.prepare(path, caller);
    return downloadFile(this.#paths, path, caller);
  }

  async downloadAll(paths: readonly string[], caller: FileCaller): Promise<Download> {
    for (const path of paths) await this.#paths.prepare(path, caller);
    return downloadFiles(this.#paths, paths, caller);
  }
}
