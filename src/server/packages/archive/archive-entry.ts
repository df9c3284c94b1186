/** One entry of an archive. Its fields are not checked yet. */
export interface ArchiveEntry {
  /** The name as stored in the archive. It can contain a trailing slash, `./` or `..`. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Target of a symbolic link or hard link. */
  readonly target?: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
  /**
   * Returns the entry's bytes. Throws if their number differs from the size in the archive. Read the bytes before the next entry, or not at
   * all.
   */
  content(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Limits for the unpacked content of an archive. */
export interface ArchiveLimits {
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
}
