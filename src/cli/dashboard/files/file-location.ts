import type { Client } from "../../../shared/client.js";
import type { FileEntry } from "../../../shared/contract/files.js";
import { shellWord } from "../../output/shell-word.js";

/** The kind of package whose files the screen shows. Each kind has its own directories and its own file operations. */
export type FileKind = "workers" | "plugins";

/** A folder on the server. An empty path means the list of the configured directories. */
export interface FolderLocation {
  readonly kind: FileKind;
  readonly path: string;
}

/** A file or folder on the server, with the kind of package that contains it. */
export interface FileItem {
  readonly kind: FileKind;
  readonly entry: FileEntry;
}

/** Returns the API operations on the files of workers or of plugins. */
export function filesOf(client: Client, kind: FileKind): Client["workerFiles"] | Client["pluginFiles"] {
  return kind === "workers" ? client.workerFiles : client.pluginFiles;
}

/** Returns the parent folder of a path. Empty if the path is a configured directory. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the `runtimectl files` command line that is equivalent to an action of the screen. */
export function fileLine(kind: FileKind, verb: string, ...paths: readonly string[]): string {
  return ["runtimectl files", verb, ...paths.map(shellWord), ...(kind === "plugins" ? ["--plugins"] : [])].join(" ");
}
