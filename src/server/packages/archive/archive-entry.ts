/** One thing that an archive claims to hold, before anything about it is believed. */
export interface ArchiveEntry {
  /** As the archive spells it: a trailing slash, `./` and worse included. */
  readonly name: string;
  readonly kind: "file" | "directory" | "symbolic link" | "hard link";
  /** Where a link points to. */
  readonly target?: string;
  readonly sizeBytes: number;
  readonly executable: boolean;
  /** The bytes, checked against what the archive says about them; to be read before the next entry is asked for, or not at all. */
  content(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** How much an archive may unpack to. */
export interface ArchiveLimits {
  readonly maxExpandedSizeBytes: number;
  readonly maxArchiveEntries: number;
}
