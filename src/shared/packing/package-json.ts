import * as z from "zod";

const Dependencies = z.record(z.string(), z.unknown()).optional().catch(undefined);
/** The fields of package.json that packing uses. */
export const PackageJson = z.object({
  name: z.unknown().optional(),
  version: z.unknown().optional(),
  main: z.string().optional().catch(undefined),
  files: z.array(z.string()).optional().catch(undefined),
  dependencies: Dependencies,
  optionalDependencies: Dependencies,
  peerDependencies: Dependencies,
  devDependencies: Dependencies,
});
export type PackageJson = z.output<typeof PackageJson>;
