import { list, type ReadEntry } from "tar";

/** Metadata is small; more of an entry is not kept. */
const maximumMetadataBytes = 64 * 1024;
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);

export interface ArchiveContent {
  /** Sorted by path, below the folder that wraps them all, if one does. */
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[];
  /** Text of the manifest and of package.json at the root, by file name. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** What a gzipped tar that was ready holds; undefined when it cannot be read here: the daemon will say what is wrong with it. */
export async function readArchiveContent(file: string): Promise<ArchiveContent | undefined> {
  const files = new Map<string, number>();
  const texts = new Map<string, string>();
  try {
    await list({ file, strict: true, onReadEntry: (entry) => note(entry, files, texts) });
  } catch {
    return undefined;
  }
  const wrapper = wrapperOf([...files.keys()]);
  const unwrapped = [...files].map(([path, sizeBytes]) => ({ path: path.slice(wrapper.length), sizeBytes }));
  const metadata = [...texts].map(([path, text]): [string, string] => [path.slice(wrapper.length), text]);
  return {
    files: unwrapped.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    metadata: new Map(metadata.filter(([path]) => metadataFiles.has(path))),
  };
}

function note(entry: ReadEntry, files: Map<string, number>, texts: Map<string, string>): void {
  if (entry.type !== "File" && entry.type !== "OldFile") return;
  const path = entry.path.replace(/^(?:\.\/)+/, "");
  files.set(path, entry.size);
  if (entry.size > maximumMetadataBytes || !metadataFiles.has(path.slice(path.indexOf("/") + 1))) return;
  const pieces: Buffer[] = [];
  entry.on("data", (piece: Buffer) => pieces.push(piece));
  entry.on("end", () => texts.set(path, Buffer.concat(pieces).toString("utf8")));
}

/** `folder/` when one folder holds everything and metadata does not lie beside it; else nothing. */
function wrapperOf(paths: readonly string[]): string {
  const first = paths[0] ?? "";
  const wrapper = first.slice(0, first.indexOf("/") + 1);
  return wrapper !== "" && paths.every((path) => path.startsWith(wrapper)) ? wrapper : "";
}
