import type { Client } from "../../../shared/client.js";
import type { FileEntry } from "../../../shared/contract/files.js";
import { shellWord } from "../../output/shell-word.js";

/** Whose directories: each kind of package has its own, behind operations of its own. */
export type FileKind = "workers" | "plugins";

/** A folder on the server; an empty path holds the mounts. */
export interface FilePlace {
  readonly kind: FileKind;
  readonly path: string;
}

/** An entry of a folder, and of which kind it is. */
export interface FileItem {
  readonly kind: FileKind;
  readonly entry: FileEntry;
}

/** The operations on the files of a kind. */
export function filesOf(client: Client, kind: FileKind): Client["workerFiles"] | Client["pluginFiles"] {
  return kind === "workers" ? client.workerFiles : client.pluginFiles;
}

/** The folder that a path lies in; empty for a mount. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The command line that does the same to files on the server. */
export function fileLine(kind: FileKind, verb: string, ...paths: readonly string[]): string {
  return ["runtimectl files", verb, ...paths.map(shellWord), ...(kind === "plugins" ? ["--plugins"] : [])].join(" ");
}
