export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** A folder that the user selected or dropped in the browser. Paths are relative to this folder, with forward slashes. */
export interface Folder {
  readonly name: string;
  /** Lists the entries of a subfolder. An empty path lists the entries of this folder. */
  readonly list: (directory: string) => Promise<readonly FolderEntry[]>;
  readonly open: (path: string) => Promise<File | undefined>;
}
