import { lstatSync, readdirSync } from "node:fs";
import { neverPackedReason } from "../../shared/packing/never-packed.js";

interface FileBelow {
  /** Path of the file relative to the searched folder, with forward slashes. */
  readonly name: string;
  /** Absolute path of the file. */
  readonly source: string;
  readonly sizeBytes: number;
}

/**
 * Returns the regular files below a folder, except files that are never packed. `isExcluded` receives relative paths. Does not follow
 * links, which could lead out of the folder or form a circle.
 */
export function filesBelow(folder: string, isExcluded: (name: string) => boolean = () => false): FileBelow[] {
  const files: FileBelow[] = [];
  const visit = (directory: string, prefix: string, parentName: string | undefined) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const name = prefix + entry.name;
      if (isExcluded(name) || neverPackedReason(entry.name, parentName) !== undefined) continue;
      const source = `${directory}/${entry.name}`;
      if (entry.isDirectory()) visit(source, `${name}/`, entry.name);
      else if (entry.isFile()) files.push({ name, source, sizeBytes: lstatSync(source).size });
    }
  };
  visit(folder, "", undefined);
  return files;
}
