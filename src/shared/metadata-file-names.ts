/** The names a manifest may have, in the order in which they are looked for. */
export const manifestFileNames = ["manifest.yaml", "manifest.yml"] as const;
/** The files that make a folder a package. */
export const metadataFileNames = [...manifestFileNames, "package.json"] as const;
export type MetadataFileName = (typeof metadataFileNames)[number];
