/** The file names of a manifest, in search order. */
export const manifestFileNames = ["manifest.yaml", "manifest.yml"] as const;
/** The files that identify a folder as a package, in search order. */
export const metadataFileNames = [...manifestFileNames, "package.json"] as const;
export type MetadataFileName = (typeof metadataFileNames)[number];
