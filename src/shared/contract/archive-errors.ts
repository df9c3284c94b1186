/** Error codes for a rejected archive of a worker or plugin. */
export const archiveErrors = [
  "INVALID_FILE_TYPE",
  "INVALID_ARCHIVE",
  "UNSUPPORTED_ENTRY",
  "PATH_TRAVERSAL",
  "ARCHIVE_TOO_LARGE",
  "MISSING_PACKAGE_NAME",
  "INVALID_PACKAGE_NAME",
  "INVALID_PACKAGE_VERSION",
  "INVALID_PACKAGE_METADATA",
  "NAMESPACE_DENIED",
] as const;

/** Error codes for a change that the index of a package store rejects. */
export const indexErrors = ["KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED", "CHANGE_CONFLICT"] as const;

/** Error codes for an archive that a package store does not store. */
export const storeErrors = [...indexErrors, "PACKAGE_STORE_UNAVAILABLE"] as const;

/** Error codes for a change of files in a package store: the daemon downloads the files, and stores them as a new archive. */
export const editErrors = [...storeErrors, "PACKAGE_UNAVAILABLE", "PRECONDITION_FAILED", "UNSUPPORTED_ENTRY", "ARCHIVE_TOO_LARGE"] as const;
