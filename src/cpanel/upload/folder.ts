export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** A folder that the browser was given. Paths are below it, with forward slashes. */
export interface Folder {
  readonly name: string;
  /** What lies in a folder below it; the empty path is the folder itself. */
  readonly list: (directory: string) => Promise<readonly FolderEntry[]>;
  readonly open: (path: string) => Promise<File | undefined>;
}
