/** One entry of an archive. The fields are unchecked data from the archive. */
export interface ArchiveEntry {
  /** The name as stored in the archive. It can contain a trailing slash, `./` or `..`. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Target of a symbolic link or hard link. */
  readonly target?: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
  /**
   * Returns the bytes of the entry. Throws if their number differs from the size in the archive. Read the bytes before the next entry, or
   * skip them.
   */
  content(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Limits for the unpacked content of an archive. */
export interface ArchiveLimits {
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
}
