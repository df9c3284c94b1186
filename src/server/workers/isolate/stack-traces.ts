import { readFileSync, statSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";

/**
 * Maximum size in bytes of a file or source map that is read for stack traces. The isolate is blocked while it reads and parses the file.
 */
const largestFileBytes = 32 * 1024 * 1024;
const mostFiles = 32;
const comment = "//# sourceMappingURL=";

/** Matches stack frames inside Node.js, which do not help to find an error of the worker. */
const nodeFrames = /\n +at (?:[^\n]* \(|async )?node:[^\s)]*\)?( \{)?/g;
/** Matches the messages of V8 for a failed allocation of an ArrayBuffer or of WebAssembly memory. V8 reports both as a RangeError. */
const refusedMemory = /^(?:Array buffer allocation failed|WebAssembly\.(?:Memory|Instance).*(?:memory|allocate))/i;
/** Error code of Node.js for a failed allocation of a Buffer, or of a string that is made from a Buffer. */
const refusedBuffer = "ERR_MEMORY_ALLOCATION_FAILED";

interface MappedFile {
  readonly map: SourceMap;
  /** Folder to which the source paths in the map are relative. */
  readonly folder: string;
  readonly sourceRoot: string;
}

/**
 * Replaces positions in bundles with positions in source files. Reads source maps inside the code and map files of the worker. Reads a map
 * only if a text contains a position in its bundle, so maps cost no time without errors.
 */
export class SourcePositions {
  readonly #appFolder: string;
  readonly #position: RegExp;
  readonly #files = new Map<string, MappedFile | undefined>();

  constructor(appFolder: string) {
    this.#appFolder = appFolder;
    const roots = [pathToFileURL(appFolder).href, appFolder].map((root) => root.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    this.#position = new RegExp(String.raw`((?:${roots.join("|")})/[^\s():]+):(\d+):(\d+)`, "g");
  }

  /** Returns `text` with positions in source files. Their paths are relative to the worker's folder. */
  map(text: string): string {
    return text.replace(this.#position, (whole, place: string, line: string, column: string) => {
      try {
        return this.#origin(place, Number(line), Number(column)) ?? whole;
      } catch {
        // Keeps the position in the bundle if there is no valid source map.
        return whole;
      }
    });
  }

  #origin(place: string, line: number, column: number): string | undefined {
    const file = place.startsWith("file:") ? fileURLToPath(place.replace(/[?#].*$/, "")) : place;
    const mapped = this.#fileOf(file);
    if (!mapped) return undefined;
    const origin = mapped.map.findEntry(line - 1, column - 1);
    if (!("originalSource" in origin) || typeof origin.originalSource !== "string") return undefined;
    const source = this.#relative(mapped, origin.originalSource);
    return `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  }

  #fileOf(file: string): MappedFile | undefined {
    if (this.#files.has(file)) return this.#files.get(file);
    if (this.#files.size >= mostFiles) this.#files.clear();
    this.#files.set(file, undefined);
    const mapped = readMap(file);
    this.#files.set(file, mapped);
    return mapped;
  }

  /**
   * Returns the path of a source relative to the worker's folder. Bundlers name a source by a path or by a URL of their own. Removes a
   * leading `../`, which leads to folders of the build machine.
   */
  #relative({ folder, sourceRoot }: MappedFile, source: string): string {
    const bare = source.replace(/^[a-z][\w+.-]*:\/\/[^/]*\//i, "");
    const absolute = bare === source ? path.resolve(folder, sourceRoot, source) : path.resolve(this.#appFolder, bare);
    return path.relative(this.#appFolder, absolute).replace(/^(?:\.\.\/)+/, "");
  }
}

function readMap(file: string): MappedFile | undefined {
  const code = readSmall(file);
  const at = code.lastIndexOf(comment);
  if (at < 0) return undefined;
  const reference = /^\S*/.exec(code.slice(at + comment.length))?.[0] ?? "";
  const inline = /^data:application\/json[^,]*?(;base64)?,(.*)$/.exec(reference);
  const mapFile = path.resolve(path.dirname(file), decodeURIComponent(inline ? "" : reference));
  const json = inline ? decodeInline(inline[2] as string, inline[1] !== undefined) : readSmall(mapFile);
  const payload = JSON.parse(json) as SourceMapPayload;
  const folder = path.dirname(inline ? file : mapFile);
  return { map: new SourceMap(payload), folder, sourceRoot: payload.sourceRoot ?? "" };
}

function decodeInline(data: string, isBase64: boolean): string {
  return isBase64 ? Buffer.from(data, "base64").toString() : decodeURIComponent(data);
}

function readSmall(file: string): string {
  if (statSync(file).size > largestFileBytes) throw new Error("too large");
  return readFileSync(file, "utf8");
}

/** Returns a description of any thrown value, with the stack of an error. Never throws. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === "string"
      ? inspect(error).replaceAll(nodeFrames, "$1")
      : `Thrown: ${inspect(error)}`;
  } catch {
    return "Thrown: a value that cannot be described.";
  }
}

/**
 * Returns one line of at most 1 KB about a thrown value, with file and line of the worker's code. Removes the path of the sandbox folder.
 */
export function summariseError(error: unknown, slot: string): string {
  let [text, place] = ["The module threw a value that cannot be described.", ""];
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Thrown: ${String(error)}`;
    place = error instanceof Error && typeof error.stack === "string" ? placeIn(error.stack, slot) : "";
  } catch {
    // Keeps the default text if reading the thrown value throws.
  }
  const line = text
    .replaceAll(`file://${slot}/app/`, "")
    .replaceAll(`${slot}/app/`, "")
    .replaceAll(`file://${slot}/`, "")
    .replaceAll(`${slot}/`, "");
  return `${(line.split("\n").find((part) => part.trim() !== "") ?? "").slice(0, 900)}${place.slice(0, 100)}`;
}

/**
 * Returns the first stack frame in a file of the worker, such as ` (index.js:1:7)`. Returns an empty text for a syntax error, whose stack
 * has no such frame.
 */
function placeIn(stack: string, slot: string): string {
  const files = `${slot}/app/`;
  const call = stack.split("\n").find((line) => /^ +at .*:\d+:\d+\)?$/.test(line) && line.includes(files));
  return call === undefined ? "" : ` (${call.slice(call.indexOf(files) + files.length).replace(/\)$/, "")})`;
}

/** Returns whether an error reports a failed allocation outside the V8 heap. A worker can catch this error and continue. */
export function isOutOfMemory(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return false;
    return ("code" in error && error.code === refusedBuffer) || (error instanceof RangeError && refusedMemory.test(error.message));
  } catch {
    // Ignores the error. A thrown value can be a Proxy that throws at each access.
    return false;
  }
}
