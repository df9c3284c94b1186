/** One entry of an archive. Its fields are not checked yet. */
export interface ArchiveEntry {
  /** The name as stored in the archive. It can contain a trailing slash, `./` or `..`. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Target of a link. */
  readonly target?: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
  /** Returns the bytes and checks their number against the size in the archive. Read them before the next entry, or not at all. */
  content(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Limits of unpacking. */
export interface ArchiveLimits {
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
}
