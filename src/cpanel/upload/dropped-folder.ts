import type { Folder, FolderEntry } from "./folder.js";

/** Returns a dropped folder. Each subfolder is read only when it is listed, so that excluded folders are not read. */
export function droppedFolder(root: FileSystemDirectoryEntry): Folder {
  return {
    name: root.name,
    list: async (directory) => {
      const entry = directory === "" ? root : await find(root, directory, "getDirectory");
      return entry
        ? (await readAll((entry as FileSystemDirectoryEntry).createReader())).map(({ name, isDirectory }) => ({
            name,
            isFolder: isDirectory,
          }))
        : [];
    },
    open: async (path) => {
      const entry = await find(root, path, "getFile");
      return entry && new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    },
  };
}

function find(root: FileSystemDirectoryEntry, path: string, how: "getFile" | "getDirectory"): Promise<FileSystemEntry | undefined> {
  return new Promise((resolve) => root[how](path, {}, resolve, () => resolve(undefined)));
}

/** Reads all entries of a folder. The browser returns a limited number of entries per call, and an empty list after the last entry. */
async function readAll(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}

/** Returns a folder that the user selected in the browser's dialog, which provides a flat list of all files. */
export function chosenFolder(files: readonly File[]): Folder {
  const byPath = new Map(files.map((file) => [file.webkitRelativePath.split("/").slice(1).join("/"), file]));
  const entries = new Map<string, Map<string, FolderEntry>>();
  for (const path of byPath.keys()) {
    const parts = path.split("/");
    for (const [depth, name] of parts.entries()) {
      const directory = parts.slice(0, depth).join("/");
      const known = entries.get(directory) ?? new Map<string, FolderEntry>();
      entries.set(directory, known.set(name, { name, isFolder: depth < parts.length - 1 }));
    }
  }
  return {
    name: files[0]?.webkitRelativePath.split("/")[0] ?? "",
    list: async (directory) => [...(entries.get(directory)?.values() ?? [])],
    open: async (path) => byPath.get(path),
  };
}
