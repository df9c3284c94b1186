/** Default limits of a daemon. Sizes have the format of the variables. */
export const usualLimits = { uploadSize: "100mb", expandedSize: "1gb", archiveEntries: 50_000 } as const;
