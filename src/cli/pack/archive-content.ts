import { buffer } from "node:stream/consumers";
import { list, type ReadEntry } from "tar";
import { openPromise } from "yauzl";

/** Maximum size of a metadata file to read. */
const maximumMetadataBytes = 64 * 1024;
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);
/** The daemon removes only a top-level folder of this name from the paths of a zip file. */
const zipWrapper = "package/";

export interface ArchiveContent {
  /** Sorted by path, relative to the top-level folder if there is only one. */
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[];
  /** Text of the manifest and of package.json at the root, by file name. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** The entries found so far: sizes and texts by path. */
interface Found {
  readonly files: Map<string, number>;
  readonly texts: Map<string, string>;
}

/** Lists the entries of an archive. Returns undefined for an unreadable archive, because the daemon reports its problem. */
export async function readArchiveContent(file: string): Promise<ArchiveContent | undefined> {
  const isZip = file.toLowerCase().endsWith(".zip");
  const found: Found = { files: new Map(), texts: new Map() };
  try {
    if (isZip) await listZip(file, found);
    else await list({ file, strict: true, onReadEntry: (entry) => note(entry, found) });
  } catch {
    return undefined;
  }
  const wrapper = wrapperOf([...found.files.keys()]);
  return contentBelow(isZip && wrapper !== zipWrapper ? "" : wrapper, found);
}

function contentBelow(wrapper: string, { files, texts }: Found): ArchiveContent {
  const unwrapped = [...files].map(([path, sizeBytes]) => ({ path: path.slice(wrapper.length), sizeBytes }));
  const metadata = [...texts].map(([path, text]): [string, string] => [path.slice(wrapper.length), text]);
  return {
    files: unwrapped.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    metadata: new Map(metadata.filter(([path]) => metadataFiles.has(path))),
  };
}

async function listZip(file: string, { files, texts }: Found): Promise<void> {
  const zip = await openPromise(file, { autoClose: false });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith("/")) continue;
      files.set(entry.fileName, entry.uncompressedSize);
      if (!mayBeMetadata(entry.fileName, entry.uncompressedSize)) continue;
      texts.set(entry.fileName, (await buffer(await zip.openReadStreamPromise(entry))).toString("utf8"));
    }
  } finally {
    zip.close();
  }
}

function note(entry: ReadEntry, { files, texts }: Found): void {
  if (entry.type !== "File" && entry.type !== "OldFile") return;
  const path = entry.path.replace(/^(?:\.\/)+/, "");
  files.set(path, entry.size);
  if (!mayBeMetadata(path, entry.size)) return;
  const pieces: Buffer[] = [];
  entry.on("data", (piece: Buffer) => pieces.push(piece));
  entry.on("end", () => texts.set(path, Buffer.concat(pieces).toString("utf8")));
}

/** Whether an entry is a metadata file at the root or in a top-level folder. */
function mayBeMetadata(path: string, sizeBytes: number): boolean {
  return sizeBytes <= maximumMetadataBytes && metadataFiles.has(path.slice(path.indexOf("/") + 1));
}

/** Returns the top-level folder, such as `folder/`, if it contains all entries; otherwise an empty text. */
function wrapperOf(paths: readonly string[]): string {
  const first = paths[0] ?? "";
  const wrapper = first.slice(0, first.indexOf("/") + 1);
  return wrapper !== "" && paths.every((path) => path.startsWith(wrapper)) ? wrapper : "";
}
