import * as z from "zod";

/**
 * A backup is a gzipped tar: `format.json`, `keys.db`, then for each package its files below `<kind>/<directory>/<number>/` and after them
 * `<kind>/<directory>/<number>.json`, which lists them with their digests; `manifest.json`, the last, has the digests of these lists.
 * Files without a list were read while they changed, and were read again under another number: they do not count.
 */
export const formatName = "runtimectl-backup";
export const formatVersion = 1;
export const entryNames = { format: "format.json", keyStore: "keys.db", manifest: "manifest.json" } as const;

export type PackageKind = "workers" | "plugins";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

export const formatSchema = z.object({
  format: z.literal(formatName),
  version: z.number().int(),
  /** ISO 8601. */
  createdAt: z.iso.datetime(),
  runtimectl: z.string(),
});

export const packageListSchema = z.object({
  /** Below its directory: `app/1.0.0`, `@team/app`. */
  path: z.string(),
  /** Below the package; without those that its files are in. */
  folders: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), mode: z.number().int().min(0).max(0o777), sizeBytes: z.number().int(), sha256 })),
});

export const manifestSchema = formatSchema.extend({
  keyStore: z.object({ keys: z.number().int(), sha256 }),
  packages: z.array(
    z.object({ kind: z.enum(["workers", "plugins"]), directory: z.number().int(), number: z.number().int(), path: z.string(), sha256 }),
  ),
});

export type Format = z.infer<typeof formatSchema>;
export type PackageList = z.infer<typeof packageListSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** Of one of the backup's own documents; they are held in memory. */
export const longestDocumentBytes = 64 * 1024 * 1024;
