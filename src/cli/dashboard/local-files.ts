import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { mostPaths } from "../../shared/contract/files.js";
import { usageError } from "../command/command-error.js";
import { pluralize } from "../output/pluralize.js";

/** A file of this machine, and the name that it gets below a folder on the server. */
export interface LocalFile {
  readonly file: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/** A file, or all files of a folder below the folder's own name. Links are left out. */
export async function localFiles(source: string): Promise<readonly LocalFile[]> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw usageError(`there is no file or folder ${source}`);
  const name = path.basename(source);
  if (!found.isDirectory()) return [{ file: source, name, sizeBytes: found.size }];
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  if (files.length === 0) throw usageError(`there is no file in ${source}`);
  if (files.length > mostPaths)
    throw usageError(`${source} has ${pluralize(files.length, "file")}, and ${mostPaths} go at once`, "upload it as a package");
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return { file, name: [name, ...path.relative(source, file).split(path.sep)].join("/"), sizeBytes: (await stat(file)).size };
    }),
  );
}
