import type { Folder, FolderEntry } from "../../../src/cpanel/upload/folder.js";

/** A folder as the browser gives it, with these files: path → content. */
export function memoryFolder(name: string, files: Readonly<Record<string, string>>): Folder & { readonly listed: string[] } {
  const listed: string[] = [];
  return {
    name,
    listed,
    list: async (directory) => {
      listed.push(directory);
      const below = directory === "" ? "" : `${directory}/`;
      const entries = new Map<string, FolderEntry>();
      for (const path of Object.keys(files)) {
        if (!path.startsWith(below)) continue;
        const [entry = "", ...rest] = path.slice(below.length).split("/");
        entries.set(entry, { name: entry, isFolder: rest.length > 0 });
      }
      return [...entries.values()];
    },
    open: async (path) => {
      const content = files[path];
      return content === undefined ? undefined : new File([content], path.slice(path.lastIndexOf("/") + 1));
    },
  };
}
