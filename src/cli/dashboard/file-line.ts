import { shellWord } from "../output/shell-word.js";
import type { FileKind } from "./file-place.js";

/** The command line that does the same to files on the server. */
export function fileLine(kind: FileKind, verb: string, ...paths: readonly string[]): string {
  return ["runtimectl files", verb, ...paths.map(shellWord), ...(kind === "plugins" ? ["--plugins"] : [])].join(" ");
}
