import type { Client } from "../../../shared/client.js";
import type { FileEntry } from "../../../shared/contract/files.js";
import { shellWord } from "../../output/shell-word.js";

/** The kind of package whose files are shown. Each kind has its own directories and file operations. */
export type FileKind = "workers" | "plugins";

/** A folder on the server. The empty path stands for the list of configured directories. */
export interface FilePlace {
  readonly kind: FileKind;
  readonly path: string;
}

/** A file or folder on the server, with the kind of package to which it belongs. */
export interface FileItem {
  readonly kind: FileKind;
  readonly entry: FileEntry;
}

/** Returns the file operations for workers or plugins. */
export function filesOf(client: Client, kind: FileKind): Client["workerFiles"] | Client["pluginFiles"] {
  return kind === "workers" ? client.workerFiles : client.pluginFiles;
}

/** Returns the parent folder of a path. Empty for a configured directory. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Returns the equivalent `runtimectl files` command line. */
export function fileLine(kind: FileKind, verb: string, ...paths: readonly string[]): string {
  return ["runtimectl files", verb, ...paths.map(shellWord), ...(kind === "plugins" ? ["--plugins"] : [])].join(" ");
}
