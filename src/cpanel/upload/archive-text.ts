import { EntryTree } from "../../shared/archive/entry-tree.js";
import { entrySegments } from "../../shared/archive/entry-name.js";
import { metadataFileNames } from "../../shared/metadata-file-names.js";
import type { PackageText } from "./package-info.js";

/** Maximum size of a metadata file such as a manifest. Larger files are not read as metadata. */
const longestMetadataBytes = 1024 * 1024;

export interface ArchiveText extends PackageText {
  readonly fileCount: number;
}

/** The names of all entries in an archive, and the texts of files that can be metadata files. */
export class ArchiveListing {
  readonly #tree = new EntryTree();
  readonly #files = new Set<string>();
  readonly #texts = new Map<string, string>();

  /** Adds an entry. Throws the daemon's error for a name that is invalid or leads out of the package folder. */
  add(name: string, kind: "file" | "directory"): void {
    const segments = entrySegments(name, kind);
    if (kind === "directory") return this.#tree.addDirectory(segments);
    this.#tree.addFile(segments);
    this.#files.add(segments.join("/"));
  }

  addText(name: string, text: string): void {
    this.#texts.set(entrySegments(name, "file").join("/"), text);
  }

  toText(format: "tar" | "zip"): ArchiveText {
    const root = this.#tree.packageRoot(format);
    const below = (path: string) => (root === "" ? path : `${root}/${path}`);
    return {
      fileCount: this.#tree.fileCount,
      read: async (path) => this.#texts.get(below(path)),
      isFile: async (path) => this.#files.has(below(path)),
    };
  }
}

/** Whether an archive entry is a metadata file of allowed size. The entry must be at the archive root or one folder below. */
export function isMetadata(name: string, sizeBytes: number): boolean {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length <= 2 && sizeBytes <= longestMetadataBytes && (metadataFileNames as readonly string[]).includes(parts.at(-1) ?? "");
}
