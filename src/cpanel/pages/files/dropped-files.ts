import { mostPaths } from "../../../shared/contract/files.js";
import { droppedFolder } from "../../upload/dropped-folder.js";
import type { Folder } from "../../upload/folder.js";

/** A file to upload, and its path relative to the displayed folder, such as `assets/logo.svg`. */
export interface FileToSend {
  readonly file: File;
  readonly path: string;
}

/**
 * Returns the dropped files. Files from dropped folders have relative paths. Rejects if the number of files exceeds the maximum for one
 * upload. Works only during the drop event.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<readonly FileToSend[]> {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const folders = items.map((item) => item.webkitGetAsEntry()).filter((entry) => entry?.isDirectory);
  const files = items.filter((item) => item.webkitGetAsEntry()?.isFile).map((item) => item.getAsFile());
  const found: FileToSend[] = files.flatMap((file) => (file ? [{ file, path: file.name }] : []));
  for (const entry of folders) {
    const folder = droppedFolder(entry as FileSystemDirectoryEntry);
    await collect(folder, "", (file, below) => {
      found.push({ file, path: `${folder.name}/${below}` });
      if (found.length > mostPaths)
        throw new Error(`One upload can contain at most ${mostPaths.toLocaleString("en-GB")} files. Drop fewer files.`);
    });
  }
  return found;
}

async function collect(folder: Folder, directory: string, take: (file: File, path: string) => void): Promise<void> {
  for (const { name, isFolder } of await folder.list(directory)) {
    const path = directory === "" ? name : `${directory}/${name}`;
    const file = isFolder ? undefined : await folder.open(path);
    if (isFolder) await collect(folder, path, take);
    else if (file) take(file, path);
  }
}
