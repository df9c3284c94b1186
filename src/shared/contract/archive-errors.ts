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
