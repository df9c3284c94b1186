/** What a daemon takes whose operator did not say otherwise; sizes as in the variables. */
export const usualLimits = { uploadSize: "100mb", expandedSize: "1gb", archiveEntries: 50_000 } as const;
