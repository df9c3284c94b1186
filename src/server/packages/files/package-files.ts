import type { Download } from "../../platform/download.js";
import { FilePlaces, type FileCaller } from "./file-paths.js";
import { createMounts, type PackageOwner } from "./mounts.js";
import { downloadFile, downloadFiles, listFiles, type FolderListing } from "./read-files.js";
import { pluginLayout, workerLayout } from "./package-folder.js";
import { FileWriter } from "./write-files.js";

const layouts = { workers: workerLayout, plugins: pluginLayout };

/** Lists, downloads and changes files in the configured directories of one package kind (workers or plugins). */
export class PackageFiles {
  readonly #places: FilePlaces;
  /** Performs all operations that change files. */
  readonly writer: FileWriter;

  constructor(options: {
    kind: keyof typeof layouts;
    /** Directory of the built-in packages, which the file API does not show. */
    builtInDirectory: string | undefined;
    directories: readonly string[];
    keeper: PackageOwner;
  }) {
    const { keeper } = options;
    this.#places = new FilePlaces({ mounts: createMounts(options), layout: layouts[options.kind], keeper });
    this.writer = new FileWriter({ places: this.#places, keeper });
  }

  /** Returns whether the package in a folder is built in. The folder is an absolute path. */
  isBuiltIn(folder: string): boolean {
    return (this.#places.mountOf(folder)?.source ?? "built-in") === "built-in";
  }

  async list(path: string, caller: FileCaller): Promise<FolderListing> {
    await this.#places.prepare(path, caller);
    return listFiles(this.#places, path, caller);
  }

  async download(path: string, caller: FileCaller): Promise<Download> {
    await this.#places.prepare(path, caller);
    return downloadFile(this.#places, path, caller);
  }

  async downloadAll(paths: readonly string[], caller: FileCaller): Promise<Download> {
    for (const path of paths) await this.#places.prepare(path, caller);
    return downloadFiles(this.#places, paths, caller);
  }
}
