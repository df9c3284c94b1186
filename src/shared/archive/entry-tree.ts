import { metadataFileNames } from "../metadata-file-names.js";
import { invalidArchive, shown } from "./refusal.js";

interface Folder {
  readonly name: string;
  /** The entries in this folder, by normalized name. Undefined for a file. */
  readonly children: Map<string, Folder> | undefined;
}

/** The files and folders of an archive. Rejects an entry if some file systems treat its name as equal to the name of another entry. */
export class EntryTree {
  readonly #root = new Map<string, Folder>();
  #fileCount = 0;

  get fileCount(): number {
    return this.#fileCount;
  }

  addDirectory(segments: readonly string[]): void {
    this.#enter(segments);
  }

  addFile(segments: readonly string[]): void {
    const name = segments.at(-1) as string;
    const folder = this.#enter(segments.slice(0, -1));
    const earlier = folder.get(folded(name));
    if (earlier) throw collision(segments, earlier.name);
    folder.set(folded(name), { name, children: undefined });
    this.#fileCount += 1;
  }

  /**
   * Returns the package root: "" for the archive root, or the name of the only top-level folder. In a zip file, the folder must have the
   * name `package`. In a tar file, any name is valid, because some npm packages use other names.
   */
  packageRoot(format: "tar" | "zip"): string {
    for (const name of metadataFileNames) {
      const entry = this.#root.get(folded(name));
      if (entry?.name === name && !entry.children) return "";
    }
    const [only, ...others] = this.#root.values();
    if (!only?.children || others.length > 0) return "";
    return format === "tar" || only.name === "package" ? only.name : "";
  }

  #enter(segments: readonly string[]): Map<string, Folder> {
    let folder = this.#root;
    for (const name of segments) {
      const earlier = folder.get(folded(name));
      if (earlier && (earlier.name !== name || !earlier.children)) throw collision(segments, earlier.name);
      const next = earlier?.children ?? new Map<string, Folder>();
      if (!earlier) folder.set(folded(name), { name, children: next });
      folder = next;
    }
    return folder;
  }
}

/** Returns a form in which equal names are equal texts. Converts to upper case first, so that `ß` equals `ss`, as on some file systems. */
function folded(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

function collision(segments: readonly string[], earlier: string): Error {
  return invalidArchive(`the name ${shown(segments.join("/"))} appears twice, or differs from ${shown(earlier)} only by case or encoding`);
}
