import { readFileSync, statSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";

/** Larger files, and larger maps, are not looked into. */
const largestFileBytes = 32 * 1024 * 1024;
const mostFiles = 32;
const comment = "//# sourceMappingURL=";

/** Calls within Node, which say nothing about the app. */
const nodeFrames = /\n +at (?:[^\n]* \(|async )?node:[^\s)]*\)?( \{)?/g;
/** How V8 says it of an ArrayBuffer or of WebAssembly, as a RangeError. */
const refusedMemory = /^(?:Array buffer allocation failed|WebAssembly\.(?:Memory|Instance).*(?:memory|allocate))/i;
/** Node's code for a Buffer, or a string made of one, that cannot be allocated. */
const refusedBuffer = "ERR_MEMORY_ALLOCATION_FAILED";

interface MappedFile {
  readonly map: SourceMap;
  /** The folder that its sources are relative to. */
  readonly folder: string;
  readonly sourceRoot: string;
}

/**
 * Replaces positions in bundles by those in their sources, as source maps tell: inline ones, and files that lie in the app's folder.
 * A map is read when the first position is asked for, so that an app without errors pays nothing for it.
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

  /** The text with positions of the sources, relative to the app's folder. */
  map(text: string): string {
    return text.replace(this.#position, (whole, place: string, line: string, column: string) => {
      try {
        return this.#origin(place, Number(line), Number(column)) ?? whole;
      } catch {
        // A map that is broken, or not there: the position in the bundle is better than none.
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

  /** Bundlers name sources by path or by a URL of their own; what lies outside of the folder lay on the machine of whoever bundled. */
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

/** The text of anything that can be thrown; itself it never throws. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === "string"
      ? inspect(error).replaceAll(nodeFrames, "$1")
      : `Thrown: ${inspect(error)}`;
  } catch {
    return "Thrown: a value that cannot be described.";
  }
}

/** One line of at most 1 KB without the slot's path, with the place in the app where it was thrown. */
export function summariseError(error: unknown, slot: string): string {
  let [text, place] = ["The module threw a value that cannot be described.", ""];
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `Thrown: ${String(error)}`;
    place = error instanceof Error && typeof error.stack === "string" ? placeIn(error.stack, slot) : "";
  } catch {
    // A hostile value: the sentence above stands.
  }
  const line = text
    .replaceAll(`file://${slot}/app/`, "")
    .replaceAll(`${slot}/app/`, "")
    .replaceAll(`file://${slot}/`, "")
    .replaceAll(`${slot}/`, "");
  return `${(line.split("\n").find((part) => part.trim() !== "") ?? "").slice(0, 900)}${place.slice(0, 100)}`;
}

/** ` (index.js:1:7)`, the topmost call in a file of the app; nothing for a syntax error, whose stack has none. */
function placeIn(stack: string, slot: string): string {
  const files = `${slot}/app/`;
  const call = stack.split("\n").find((line) => /^ +at .*:\d+:\d+\)?$/.test(line) && line.includes(files));
  return call === undefined ? "" : ` (${call.slice(call.indexOf(files) + files.length).replace(/\)$/, "")})`;
}

/** What is not in the heap is refused memory with one of these; an app that catches them goes on with what it has. */
export function isOutOfMemory(error: unknown): boolean {
  try {
    if (!(error instanceof Error)) return false;
    return ("code" in error && error.code === refusedBuffer) || (error instanceof RangeError && refusedMemory.test(error.message));
  } catch {
    // What an app throws may be a trap.
    return false;
  }
}
