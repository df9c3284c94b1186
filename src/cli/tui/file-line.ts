import type { FileKind } from "./file-place.js";

/** The command line that does the same to files on the server. */
export function fileLine(kind: FileKind, verb: string, ...paths: readonly string[]): string {
  return ["runtimectl files", verb, ...paths.map(quoted), ...(kind === "plugins" ? ["--plugins"] : [])].join(" ");
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w@./+~-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
