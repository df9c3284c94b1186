import { buffer } from "node:stream/consumers";
import { list, type ReadEntry } from "tar";
import { openPromise } from "yauzl";

/**
 * Maximum size in bytes of a manifest or package.json in an archive. A larger file is not read, because a hostile archive could exhaust the
 * memory.
 */
const maximumMetadataBytes = 64 * 1024;
const metadataFiles = new Set(["manifest.yaml", "manifest.yml", "package.json"]);
/** Name of the only top-level folder that the daemon removes from the paths of a zip file. */
const zipWrapper = "package/";

export interface ArchiveContent {
  /** The files in the archive, sorted by path. If one top-level folder contains all files, the paths are relative to this folder. */
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[];
  /** Texts of the manifest and of package.json, by file name. Only files at the package root are included. */
  readonly metadata: ReadonlyMap<string, string>;
}

/** The archive entries that have been read so far: sizes and texts by path. */
interface Found {
  readonly files: Map<string, number>;
  readonly texts: Map<string, string>;
}

/**
 * Returns the files in an archive. If the archive is unreadable, returns undefined, because the daemon reports the problem after the
 * upload.
 */
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

/**
 * Whether an archive entry is a manifest or package.json of allowed size. The entry must be at the archive root or in a top-level folder.
 */
function mayBeMetadata(path: string, sizeBytes: number): boolean {
  return sizeBytes <= maximumMetadataBytes && metadataFiles.has(path.slice(path.indexOf("/") + 1));
}

/** Returns the top-level folder that contains all entries, such as `folder/`. Empty if no folder contains all entries. */
function wrapperOf(paths: readonly string[]): string {
  const first = paths[0] ?? "";
  const wrapper = first.slice(0, first.indexOf("/") + 1);
  return wrapper !== "" && paths.every((path) => path.startsWith(wrapper)) ? wrapper : "";
}
