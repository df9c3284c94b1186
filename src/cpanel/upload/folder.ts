export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** A folder in the browser. Paths are relative to it, with forward slashes. */
export interface Folder {
  readonly name: string;
  /** Lists a folder; the empty path is the folder itself. */
  readonly list: (directory: string) => Promise<readonly FolderEntry[]>;
  readonly open: (path: string) => Promise<File | undefined>;
}
