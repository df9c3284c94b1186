/**
 * Default limits of the daemon for uploaded archives. Sizes have the format of configuration variables such as `RUNTIME_MAX_UPLOAD_SIZE`.
 */
export const usualLimits = { uploadSize: "100mb", expandedSize: "1gb", archiveEntries: 50_000 } as const;
